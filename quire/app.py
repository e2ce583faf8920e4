"""The composition root: settings -> store and providers -> activities -> workers.

`worker.py` and the embedded mode of `starter.py` both build from here, so that a document is
read by the same parts on one machine and on many.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from temporalio.client import Client
from temporalio.worker import Worker

from activities.document.finalize import FinalizeDocument
from activities.document.ingest import IngestSource
from activities.document.plan import PlanDocument
from activities.document.previous import LoadPrevious
from activities.document.recognize import RecognizePage
from activities.document.reuse import ReuseResult
from activities.document.select import select_routes
from activities.document.survey import SurveyDocument
from activities.support.slots import Slots
from quire.contracts.names import (
    DOCUMENTS_QUEUE,
    LOCAL_MODEL,
    LOCAL_PROVIDER,
    ROLES,
    WORKFLOW_QUEUE,
    route_queue,
)
from quire.contracts.plan import PlanDefaults
from quire.contracts.routing import Route
from quire.domain.routing.routes import prepared_ahead
from quire.pdf.reader import Documents
from quire.ports import Provider, Store
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
from quire.telemetry.traces import NoTraces, start_traces
from quire.temporal.deployment import deployment_config
from quire.temporal.encryption import open_keys
from quire.temporal.signature import StartKeys
from quire.temporal.start_guard import StartGuard
from quire.temporal.task_runner import WholeTaskRunner, warn_of_untried_sdk
from workflows.document.workflow import DocumentWorkflow

# The SDK's ten seconds would be ten seconds of silence for people who ask about a document.
STICKY_TIMEOUT = timedelta(seconds=3)


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
    """Where documents, surveys and answers are kept."""
    return open_place(settings.store_place, open_cache(settings))


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
        providers[LOCAL_PROVIDER] = LocalOcrProvider()
    return providers


def build_workers(
    client: Client,
    parts: Parts,
    roles: tuple[str, ...] = ROLES,
    grace: timedelta | None = None,
) -> list[Worker]:
    """One worker a queue; a worker of a route takes at most the route's limit at a time.

    `grace` is how long a shutdown waits for calls in flight; without it, as long as one may take.
    """
    make = _worker_maker(client, parts.settings, grace)
    workers: list[Worker] = []
    if "workflows" in roles:
        runner = WholeTaskRunner(client)
        workers.append(_workflow_worker(make, parts, runner))
        runner.serve(workers[-1])
        warn_of_untried_sdk()
    if "documents" in roles:
        workers.append(_document_worker(make, parts))
    if "ai" in roles:
        workers += _route_workers(make, parts)
    return workers


def _worker_maker(
    client: Client, settings: Settings, grace: timedelta | None
) -> Callable[..., Worker]:
    """What the workers of all roles have in common."""
    longest = max(settings.timeout_of(name) for name in settings.providers)
    return partial(
        Worker,
        client,
        graceful_shutdown_timeout=grace or timedelta(seconds=longest + 5),
        # How fast a cancellation can reach an attempt that is waiting for its vendor.
        max_heartbeat_throttle_interval=timedelta(seconds=2),
        default_heartbeat_throttle_interval=timedelta(seconds=2),
        deployment_config=deployment_config(settings.worker_build_id),
    )


def _workflow_worker(make: Callable[..., Worker], parts: Parts, runner: WholeTaskRunner) -> Worker:
    guard = StartGuard(parts.settings, StartKeys(parts.settings, parts.store))
    plan = PlanDocument(parts.store, parts.defaults, guard.check)
    previous = LoadPrevious(parts.store, parts.results)
    finalize = FinalizeDocument(parts.store, parts.results)
    reuse = ReuseResult(parts.store, parts.results)
    return make(
        task_queue=WORKFLOW_QUEUE,
        workflow_runner=runner,
        # How long tasks and queries wait for a lost worker before another one gets them.
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        workflows=[DocumentWorkflow],
        activities=[
            plan.plan_document,
            plan.write_brief,
            previous.load_previous,
            select_routes,
            finalize.finalize_document,
            reuse.reuse_result,
        ],
        max_concurrent_activities=parts.settings.worker_concurrency,
        interceptors=[guard],
    )


def _document_worker(make: Callable[..., Worker], parts: Parts) -> Worker:
    ingest = IngestSource(open_ingest(parts.settings, parts.store, parts.documents), parts.unseal)
    survey = SurveyDocument(
        parts.store, parts.documents, parts.unseal, parts.traces, parallel=os.cpu_count() or 2
    )
    return make(
        task_queue=DOCUMENTS_QUEUE,
        activities=[ingest.ingest_source, survey.survey_document],
        max_concurrent_activities=parts.settings.worker_concurrency,
    )


def _route_workers(make: Callable[..., Worker], parts: Parts) -> list[Worker]:
    routes = served_routes(parts)
    recognize = RecognizePage(
        parts.store,
        parts.documents,
        parts.providers,
        Slots({f"{provider}:{model}": limit for (provider, model), limit in routes.items()}),
        parts.unseal,
        parts.traces,
    )
    return [
        make(
            task_queue=route_queue(provider, model),
            activities=[recognize.recognize_page],
            max_concurrent_activities=limit + prepared_ahead(limit),
            disable_eager_activity_execution=True,
        )
        for (provider, model), limit in routes.items()
    ]


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
