"""Parts: what a worker is made of, each opened as the settings say."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from quire.contracts.names import (
    LOCAL_MODEL,
    LOCAL_PROVIDER,
)
from quire.contracts.plan import PlanDefaults
from quire.contracts.routing import Route
from quire.pdf.reader import Documents
from quire.ports import Provider, Store, TurnFinder
from quire.providers.local_ocr import LOCAL_OCR_SLOTS, LocalOcrProvider
from quire.providers.model_provider import ModelProvider, open_provider
from quire.providers.pricing import cost_usd
from quire.providers.tokens import Tokens
from quire.settings import Settings, lend_environment, missing
from quire.settings.plan_defaults import defaults_from_settings
from quire.sources.fetch import OriginFetcher
from quire.store.cache import FileCache
from quire.store.ingest import Ingest
from quire.store.places import Results, open_place
from quire.store.s3_access import set_s3_access
from quire.store.verified import VerifiedStore
from quire.telemetry.damage import report_damage
from quire.telemetry.traces import NoTraces, start_traces
from quire.temporal.encryption import open_keys


@dataclass
class Parts:
    """Everything a worker is made of."""

    settings: Settings
    store: Store
    results: Results
    documents: Documents
    providers: Mapping[str, Provider]
    defaults: PlanDefaults
    traces: NoTraces

    @property
    def turn_finder(self) -> TurnFinder | None:
        """What sees which way up a page lies, where it is installed and wanted."""
        engine = self.providers.get(LOCAL_PROVIDER)
        wanted = self.settings.turn_pages == "auto"
        return engine if wanted and isinstance(engine, LocalOcrProvider) else None

    async def warm_up(self) -> None:
        """Import the vendors' SDKs, one after the other, while nothing waits for them yet."""
        for provider in self.providers.values():
            if isinstance(provider, ModelProvider):
                await provider.warm_up()

    def unseal(self, token: str, job_id: str) -> str:
        """Open a job's password. The keys are read each time: the key file of a single machine
        may be younger than this worker."""
        return open_keys(self.settings).open_text(token, job_id)

    async def close(self) -> None:
        """End child processes and connections, and send the last spans."""
        self.documents.close()
        for provider in self.providers.values():
            await provider.close()
        await self.traces.close()


def open_cache(settings: Settings) -> FileCache:
    """Files of a distant store that are kept on this machine."""
    set_s3_access(settings.s3_access)
    return FileCache(settings.cache_folder, settings.source_cache_size)


def open_store(settings: Settings) -> Store:
    """Where documents, surveys and answers are kept; what is damaged there is not given out."""
    return VerifiedStore(open_place(settings.store_place, open_cache(settings)), report_damage)


def open_results(settings: Settings) -> Results:
    """Where `text.txt` and `result.json` of jobs go."""
    return Results(
        settings.results_place, open_cache(settings), beside_origin=not settings.results_url
    )


def seal_password(settings: Settings, password: str, job_id: str) -> str:
    """The password as it may leave this process."""
    return open_keys(settings).seal_text(password, job_id)


def open_traces(settings: Settings, role: str) -> NoTraces:
    """Traces under this process's role, if the settings ask for them."""
    # OpenTelemetry reads its settings while it is set up, and not again.
    with lend_environment(settings.passed_on("OTEL_")):
        return start_traces(settings.otel_service_name, role=role, wanted=settings.tracing)


def plan_defaults(settings: Settings) -> PlanDefaults:
    """The settings as a document's plan needs them."""
    return defaults_from_settings(
        settings, local_missing=LocalOcrProvider.missing(), local_limit=LOCAL_OCR_SLOTS
    )


def open_documents(processes: int) -> Documents:
    """MuPDF in child processes, which start when they are needed."""
    return Documents(processes=processes)


def route_cost(settings: Settings, route: Route, *, read: int, written: int) -> float | None:
    """What these tokens cost on a route at its list price; None where that is unknown."""
    if route.provider == LOCAL_PROVIDER:
        return 0.0
    base_url = settings.providers[route.provider].base_url
    return cost_usd(route.provider, route.model, Tokens(read=read, written=written), base_url)


def build_parts(settings: Settings, traces: NoTraces | None = None) -> Parts:
    """Build the parts; nothing is started or connected yet."""
    return Parts(
        settings=settings,
        store=open_store(settings),
        results=open_results(settings),
        documents=open_documents(max(2, os.cpu_count() or 2)),
        providers=_providers(settings),
        defaults=plan_defaults(settings),
        traces=traces or NoTraces(),
    )


def _providers(settings: Settings) -> dict[str, Provider]:
    providers: dict[str, Provider] = {}
    for name, own in settings.providers.items():
        if not missing(name, own):
            key = own.api_key.get_secret_value() if own.api_key else None
            providers[name] = open_provider(
                name, key, own.base_url, connect_s=settings.connect_timeout
            )
    if LocalOcrProvider.available() and settings.local_ocr != "never":
        providers[LOCAL_PROVIDER] = LocalOcrProvider(hyphens=settings.hyphens)
    return providers


def open_ingest(settings: Settings, store: Store, documents: Documents) -> Ingest:
    """What brings a document into this store, within the limits of the settings."""
    set_s3_access(settings.s3_access)
    sources = OriginFetcher(
        max_bytes=settings.max_file_size,
        time_limit_s=settings.source_timeout,
        allow_private=settings.allow_private_urls,
        # The tool puts a file into the store: a path comes from other clients.
        roots=settings.source_roots if settings.cluster else None,
    )
    return Ingest(store, documents, sources, max_pages=settings.max_pages)


def served_routes(parts: Parts) -> dict[tuple[str, str], int]:
    """Every route this worker can serve, and its slots."""
    wanted: dict[tuple[str, str], int] = {}
    limit = parts.settings.max_inflight_per_model
    for name, own in parts.settings.providers.items():
        wanted.update({(name, model): limit for model in own.models.values()})
    for entry in parts.settings.route_chain:
        provider, _, model = entry.partition(":")
        wanted[provider, model] = limit
    wanted[LOCAL_PROVIDER, LOCAL_MODEL] = LOCAL_OCR_SLOTS
    return {route: slots for route, slots in wanted.items() if route[0] in parts.providers}
