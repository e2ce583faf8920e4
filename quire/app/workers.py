"""Workers: one a queue, made of the parts of this process."""

import os
from collections.abc import Callable
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
from activities.support.gate import RouteGate
from activities.support.slots import Slots
from activities.watch.find import FindStuck
from activities.watch.heal import HealDocument
from quire.app.parts import Parts, open_ingest, served_routes
from quire.contracts.names import (
    DOCUMENTS_QUEUE,
    LOCAL_PROVIDER,
    ROLES,
    WORKFLOW_QUEUE,
    route_queue,
)
from quire.domain.routing.routes import prepared_ahead
from quire.ports import Runs
from quire.settings import Settings
from quire.temporal.deployment import deployment_config
from quire.temporal.open_runs import OpenRuns
from quire.temporal.signature import StartKeys
from quire.temporal.start_guard import StartGuard
from quire.temporal.task_runner import WholeTaskRunner, warn_of_untried_sdk
from workflows.document.workflow import DocumentWorkflow
from workflows.watch.workflow import WatchWorkflow

# The SDK's ten seconds would be ten seconds of silence for people who ask about a document.
STICKY_TIMEOUT = timedelta(seconds=3)


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
        runs = OpenRuns(client, parts.settings.document_processing_timeout)
        workers.append(_workflow_worker(make, parts, runner, runs))
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


def _workflow_worker(
    make: Callable[..., Worker], parts: Parts, runner: WholeTaskRunner, runs: Runs
) -> Worker:
    guard = StartGuard(parts.settings, StartKeys(parts.settings, parts.store))
    plan = PlanDocument(parts.store, parts.defaults, guard.check)
    previous = LoadPrevious(parts.store, parts.results)
    finalize = FinalizeDocument(parts.store, parts.results, parts.documents, parts.unseal)
    reuse = ReuseResult(parts.store, parts.results)
    return make(
        task_queue=WORKFLOW_QUEUE,
        workflow_runner=runner,
        # How long tasks and queries wait for a lost worker before another one gets them.
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        workflows=[DocumentWorkflow, WatchWorkflow],
        activities=[
            plan.plan_document,
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
        RouteGate(parts.defaults.breaker),
        parts.turn_finder,
    )
    rates = {
        route: None if route[0] == LOCAL_PROVIDER else parts.settings.max_rate_per_model
        for route in routes
    }
    return [
        make(
            task_queue=route_queue(*route),
            activities=[recognize.recognize_page],
            max_concurrent_activities=limit + prepared_ahead(limit, rates[route]),
            # The server keeps to the rate for all workers; eager activities would pass it by.
            max_task_queue_activities_per_second=rates[route],
            disable_eager_activity_execution=True,
        )
        for route, limit in routes.items()
    ]
