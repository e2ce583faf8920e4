"""Workers: one a queue, made of the parts of this process."""

import os
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from temporalio.client import Client
from temporalio.worker import Worker

from activities.batch.collect import CollectEnds
from activities.batch.load import LoadBatch
from activities.batch.plan import PlanBatch
from activities.batch.start import StartDocuments
from activities.batch.stop import StopBatch
from activities.batch.write import WriteBatch
from activities.document.finalize import FinalizeDocument
from activities.document.ingest import IngestSource
from activities.document.plan import PlanDocument
from activities.document.previous import LoadPrevious
from activities.document.recognize import RecognizePage
from activities.document.reuse import ReuseResult
from activities.document.select import select_routes
from activities.document.survey import SurveyDocument
from activities.watch.find import FindStuck
from activities.watch.heal import HealDocument
from quire.app.parts import Parts, open_ingest, served_routes
from quire.contracts.document import DocumentRequest
from quire.contracts.names import (
    LOCAL_PROVIDER,
    ROLES,
    WORKFLOW_QUEUE,
    batches_queue,
    documents_queue,
    route_queue,
)
from quire.domain.document.plan import make_plan
from quire.domain.routing.routes import prepared_ahead
from quire.ports import Runs
from quire.settings import Settings
from quire.store.batches import BatchStore
from quire.temporal.batch_documents import ServerDocuments
from quire.temporal.deployment import deployment_config
from quire.temporal.open_runs import OpenRuns
from quire.temporal.signature import StartKeys
from quire.temporal.start_guard import StartGuard
from quire.temporal.task_runner import WholeTaskRunner, warn_of_untried_sdk
from workflows.batch.workflow import BatchWorkflow
from workflows.document.workflow import DocumentWorkflow
from workflows.watch.workflow import WatchWorkflow

# The SDK's ten seconds would be ten seconds of silence for people who ask about a document.
STICKY_TIMEOUT = timedelta(seconds=3)
BATCHES_AT_ONCE = 100


def build_workers(
    client: Client,
    parts: Parts,
    roles: tuple[str, ...] = ROLES,
    grace: timedelta | None = None,
    queue: str = WORKFLOW_QUEUE,
) -> list[Worker]:
    """One worker a queue, beside this workflow queue; a worker of a route takes at most the route's
    limit at a time, which all workers of the same parts share.

    `grace` is how long a shutdown waits for calls in flight; without it, as long as one may take.
    """
    make = _worker_maker(client, parts.settings, grace)
    workers: list[Worker] = []
    if "workflows" in roles:
        runner = WholeTaskRunner(client)
        runs = OpenRuns(client, parts.settings.document_processing_timeout)
        workers.append(_workflow_worker(partial(make, task_queue=queue), parts, runner, runs))
        runner.serve(workers[-1])
        warn_of_untried_sdk()
    if "documents" in roles:
        workers.append(_document_worker(partial(make, task_queue=documents_queue(queue)), parts))
        # Not with the workflows: a command that only answers a query must not take up the wait for
        # a batch's documents.
        workers.append(_batch_worker(make, parts, client, queue))
    if "ai" in roles:
        workers += _route_workers(make, parts, queue)
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


def _workflow_worker(
    make: Callable[..., Worker], parts: Parts, runner: WholeTaskRunner, runs: Runs
) -> Worker:
    guard = StartGuard(parts.settings, StartKeys(parts.settings, parts.store))
    plan = PlanDocument(parts.store, parts.defaults, guard.check)
    previous = LoadPrevious(parts.store, parts.results)
    finalize = FinalizeDocument(parts.store, parts.results, parts.documents, parts.unseal)
    reuse = ReuseResult(parts.store, parts.results)
    plan_batch = PlanBatch(guard.check, parts.settings.batch_deadline)
    return make(
        workflow_runner=runner,
        # How long tasks and queries wait for a lost worker before another one gets them.
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        workflows=[DocumentWorkflow, BatchWorkflow, WatchWorkflow],
        activities=[
            plan.plan_document,
            plan_batch.plan_batch,
            plan.write_brief,
            previous.load_previous,
            select_routes,
            finalize.finalize_document,
            reuse.reuse_result,
            FindStuck(runs).find_stuck,
            HealDocument(runs).heal_document,
        ],
        max_concurrent_activities=parts.settings.worker_concurrency,
        interceptors=[guard],
    )


def _batch_worker(make: Callable[..., Worker], parts: Parts, client: Client, queue: str) -> Worker:
    batches = BatchStore(parts.store)

    def engine_of(request: DocumentRequest) -> str:
        return make_plan(request, parts.defaults).engine

    documents = ServerDocuments(client, engine_of, queue)
    stop = StopBatch(batches, documents)
    return make(
        task_queue=batches_queue(queue),
        activities=[
            LoadBatch(batches).load_batch,
            StartDocuments(batches, documents, parts.results).start_documents,
            CollectEnds(batches, documents, parts.results).collect_ends,
            stop.stop_documents,
            stop.skip_documents,
            WriteBatch(batches, parts.results).write_batch,
        ],
        # One for each batch that is open, which does nothing but wait.
        max_concurrent_activities=BATCHES_AT_ONCE,
        max_concurrent_activity_task_polls=2,
    )


def _document_worker(make: Callable[..., Worker], parts: Parts) -> Worker:
    ingest = IngestSource(open_ingest(parts.settings, parts.store, parts.documents), parts.unseal)
    survey = SurveyDocument(
        parts.store, parts.documents, parts.unseal, parts.traces, parallel=os.cpu_count() or 2
    )
    return make(
        activities=[ingest.ingest_source, survey.survey_document],
        max_concurrent_activities=parts.settings.worker_concurrency,
    )


def _route_workers(make: Callable[..., Worker], parts: Parts, queue: str) -> list[Worker]:
    routes = served_routes(parts)
    recognize = RecognizePage(
        parts.store,
        parts.documents,
        parts.providers,
        parts.slots,
        parts.unseal,
        parts.traces,
        parts.gate,
        parts.turn_finder,
    )
    rates = {
        route: None if route[0] == LOCAL_PROVIDER else parts.settings.max_rate_per_model
        for route in routes
    }
    return [
        make(
            task_queue=route_queue(*route, queue),
            activities=[recognize.recognize_page],
            max_concurrent_activities=limit + prepared_ahead(limit, rates[route]),
            # The server keeps to the rate for all workers; eager activities would pass it by.
            max_task_queue_activities_per_second=rates[route],
            disable_eager_activity_execution=True,
        )
        for route, limit in routes.items()
    ]
