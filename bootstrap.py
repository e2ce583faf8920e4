"""The composition root: settings -> store and providers -> activities -> workers.

`worker.py` and the embedded mode of `starter.py` both build from here, so that a document is
read by the same parts on one machine and on many.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from activities.finalize import FinalizeDocument
from activities.ingest import STORED, IngestSource, check_file, hash_file
from activities.plan import PlanDocument
from activities.previous import LoadPrevious
from activities.recognize import RecognizePage
from activities.select import select_routes
from activities.survey import SurveyDocument
from documents.reader import Documents
from domain.contracts import DOCUMENTS_QUEUE, LOCAL_PROVIDER, WORKFLOW_QUEUE, route_queue
from domain.keys import source_key
from domain.plan import PlanDefaults
from domain.routes import LOCAL_MODEL
from providers.anthropic import AnthropicProvider
from providers.local_ocr import LocalOcrProvider
from providers.openai import OpenAIProvider
from providers.protocol import Provider
from providers.vendor import VendorProvider
from settings import Settings, missing
from storage.folder import FolderStore
from storage.protocol import Store
from workflows.document import DocumentWorkflow

ROLES = ("workflows", "documents", "ai")
# Local OCR uses every core for one page; a second page at once would only slow both down.
LOCAL_OCR_SLOTS = 1


@dataclass
class House:
    """Everything a worker is made of."""

    settings: Settings
    store: Store
    results: Store
    documents: Documents
    providers: Mapping[str, Provider]
    defaults: PlanDefaults

    async def warm_up(self) -> None:
        """Import the vendors' SDKs, one after the other, while nothing waits for them yet."""
        for provider in self.providers.values():
            if isinstance(provider, VendorProvider):
                await provider.warm_up()

    async def close(self) -> None:
        self.documents.close()
        for provider in self.providers.values():
            await provider.close()


def open_store(settings: Settings) -> Store:
    """Where documents, surveys and answers are kept."""
    return FolderStore(settings.store_folder)


def open_results(settings: Settings) -> Store:
    """Where `text.txt` and `result.json` of a job go."""
    return FolderStore(settings.results_folder)


def plan_defaults(settings: Settings) -> PlanDefaults:
    """The settings as a document's plan needs them."""
    there = LocalOcrProvider.available()
    lacking = "" if there else "the local OCR engine is not installed (pip install 'quire[ocr]')"
    return settings.plan_defaults(local_missing=lacking, local_limit=LOCAL_OCR_SLOTS)


def build_house(settings: Settings) -> House:
    """Builds the parts; nothing is started or connected yet."""
    return House(
        settings=settings,
        store=open_store(settings),
        results=open_results(settings),
        documents=Documents(processes=max(2, os.cpu_count() or 2)),
        providers=_providers(settings),
        defaults=plan_defaults(settings),
    )


def _providers(settings: Settings) -> dict[str, Provider]:
    providers: dict[str, Provider] = {}
    for name, own in settings.providers.items():
        if missing(name, own):
            continue
        make = AnthropicProvider if name == "anthropic" else OpenAIProvider
        key = own.api_key.get_secret_value() if own.api_key else None
        providers[name] = make(name, api_key=key, base_url=own.base_url)
    if LocalOcrProvider.available() and settings.local_ocr != "never":
        providers[LOCAL_PROVIDER] = LocalOcrProvider()
    return providers


def build_workers(client: Client, house: House, roles: tuple[str, ...] = ROLES) -> list[Worker]:
    """One worker a queue; a worker of a route takes at most the route's limit at a time."""
    settings = house.settings
    longest = max(settings.timeout_of(name) for name in settings.providers)
    make = partial(
        Worker,
        client,
        graceful_shutdown_timeout=timedelta(seconds=longest + 5),
        # How fast a cancellation can reach an attempt that is waiting for its vendor.
        max_heartbeat_throttle_interval=timedelta(seconds=2),
        default_heartbeat_throttle_interval=timedelta(seconds=2),
    )
    workers: list[Worker] = []
    if "workflows" in roles:
        plan = PlanDocument(house.store, house.defaults)
        previous = LoadPrevious(house.store, house.results)
        finalize = FinalizeDocument(house.store, house.results)
        workers.append(
            make(
                task_queue=WORKFLOW_QUEUE,
                workflows=[DocumentWorkflow],
                activities=[
                    plan.plan_document,
                    plan.write_brief,
                    previous.load_previous,
                    select_routes,
                    finalize.finalize_document,
                ],
                max_concurrent_activities=settings.worker_concurrency,
            )
        )
    if "documents" in roles:
        ingest = IngestSource(
            house.store,
            house.documents,
            max_bytes=settings.max_file_size,
            max_pages=settings.max_pages,
        )
        survey = SurveyDocument(house.store, house.documents, parallel=os.cpu_count() or 2)
        workers.append(
            make(
                task_queue=DOCUMENTS_QUEUE,
                activities=[ingest.ingest_source, survey.survey_document],
                max_concurrent_activities=settings.worker_concurrency,
            )
        )
    if "ai" in roles:
        recognize = RecognizePage(house.store, house.documents, house.providers)
        for (provider, model), slots in _routes(house).items():
            workers.append(
                make(
                    task_queue=route_queue(provider, model),
                    activities=[recognize.recognize_page],
                    max_concurrent_activities=slots,
                    disable_eager_activity_execution=True,
                )
            )
    return workers


def _routes(house: House) -> dict[tuple[str, str], int]:
    """Every route this worker can serve, and its slots."""
    wanted: dict[tuple[str, str], int] = {}
    limit = house.settings.max_inflight_per_model
    for name, own in house.settings.providers.items():
        wanted.update({(name, model): limit for model in own.models.values()})
    for entry in house.settings.route_chain:
        provider, _, model = entry.partition(":")
        wanted[provider, model] = limit
    wanted[LOCAL_PROVIDER, LOCAL_MODEL] = LOCAL_OCR_SLOTS
    return {route: slots for route, slots in wanted.items() if route[0] in house.providers}


async def prepare_source(settings: Settings, source: str, *, upload: bool) -> str:
    """Check a local file before anything starts; for a cluster, put it into the shared store."""
    path = await asyncio.to_thread(_checked_path, source, settings.max_file_size)
    if not upload:
        return str(path)
    sha256 = await asyncio.to_thread(hash_file, path)
    await open_store(settings).put_file(source_key(sha256), path)
    return STORED + sha256


def _checked_path(source: str, max_bytes: int) -> Path:
    path = Path(source).expanduser().absolute()
    check_file(path, max_bytes)
    return path
