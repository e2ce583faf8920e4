"""The worker process: connects, checks what it needs, serves its roles until it is stopped."""

import asyncio
import signal
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

import structlog
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.client import Client
from temporalio.common import MetricMeter
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from activities.document.recognize import RecognizePage
from quire.app.parts import Parts, build_parts, open_traces, served_routes
from quire.app.store_upkeep import keep_store_small
from quire.app.workers import build_workers
from quire.contracts.names import WORKFLOW_QUEUE, route_queue
from quire.domain.errors import SettingsError
from quire.settings import Settings
from quire.stop_signals import on_stop_signals
from quire.telemetry.damage import show_store
from quire.telemetry.health import HealthServer, LoopDelay, why_slow
from quire.telemetry.metrics import QUEUE_DEPTH
from quire.telemetry.recorder import MetricRecorder, show_documents, show_route, show_watch
from quire.temporal.connect import (
    check_namespace,
    connect,
    refused_by_temporal,
    waiting_tasks,
)
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.runtime import worker_runtime
from quire.temporal.search_attributes import register_search_attributes
from quire.temporal.watch_schedule import schedule_watch
from quire.threads import longest_delay
from workflows.document.workflow import DocumentWorkflow
from workflows.watch.workflow import WatchWorkflow

log = structlog.get_logger("quire.worker")
# A server learns of a namespace that has just been made some seconds late.
NAMESPACE_WITHIN_S = 15.0
# About as often as a metrics server looks.
LOOK_AT_QUEUES_EVERY_S = 15.0


async def serve(settings: Settings, roles: tuple[str, ...]) -> None:
    """Run until SIGTERM, SIGINT or SIGHUP, then finish what is in flight and hand back the rest."""
    stop = asyncio.Event()
    on_stop_signals(stop.set, signal.SIGTERM, signal.SIGINT)
    if settings.files:
        log.info("settings_read", files=[str(path) for path in settings.files])
    for path in settings.exposed_files:
        log.warning("settings_file_exposed", file=str(path), remedy=f"chmod 600 {path}")
    # First: an address that is taken must not leave a server behind.
    runtime = worker_runtime(settings)
    async with AsyncExitStack() as leaving:
        address = None
        if not settings.temporal_address:
            server = EmbeddedServer(settings.state_dir)
            leaving.callback(server.leave)
            address = (await server.start()).address
        traces = open_traces(settings, role=",".join(roles))
        client = await connect(settings, address, runtime=runtime, plugins=traces.plugins)
        await check_namespace(client)
        await _check_search_attributes(client)
        parts = build_parts(settings, traces)
        leaving.push_async_callback(parts.close)
        warming = asyncio.create_task(parts.warm_up())
        leaving.callback(warming.cancel)
        workers = build_workers(client, parts, roles)
        if settings.metrics_address:
            show_store(runtime.metric_meter)
            _show_metrics(runtime.metric_meter, client.namespace, parts, roles)
            queues = [worker.task_queue for worker in workers]
            watching = asyncio.create_task(_watch_queues(client, runtime.metric_meter, queues))
            leaving.callback(watching.cancel)
        tending = asyncio.create_task(
            keep_store_small(settings, parts.store, client, runtime.metric_meter)
        )
        leaving.callback(tending.cancel)
        for left_out in sorted(
            plan.missing for plan in parts.defaults.providers.values() if plan.missing
        ):
            log.warning("provider_left_out", reason=left_out)
        delay = LoopDelay()
        measuring = asyncio.create_task(delay.measure())
        leaving.callback(measuring.cancel)
        if health := await serve_health(settings, client, workers, stop, delay):
            leaving.push_async_callback(health.close)
        if "workflows" in roles:
            scheduling = asyncio.create_task(_schedule_watch(client, settings))
            leaving.callback(scheduling.cancel)
        log.info("worker_started", roles=roles, queues=[worker.task_queue for worker in workers])
        await run_workers(workers, stop)
    log.info("worker_stopped")


async def _check_search_attributes(client: Client) -> None:
    try:
        added = await register_search_attributes(client)
        if added:
            log.info("search_attributes_added", names=added)
    except RPCError as error:
        # A worker's key need not be an operator's: docs/operations.md has the command.
        log.warning("search_attributes_not_checked", error=error.message)


async def _schedule_watch(client: Client, settings: Settings) -> None:
    try:
        await schedule_watch(client, settings.watch_interval)
    except RPCError as error:
        # A worker's key may not be allowed to: docs/operations.md has the command.
        log.warning("watch_not_scheduled", error=error.message)


async def serve_health(
    settings: Settings,
    client: Client,
    workers: Sequence[Worker],
    stop: asyncio.Event,
    delay: LoopDelay,
) -> HealthServer | None:
    """Answer `/healthz` and `/readyz`, if the settings name an address."""
    if not settings.health_address:
        return None

    async def check() -> str:
        if stop.is_set():
            return "it is shutting down"
        if not all(worker.is_running for worker in workers):
            return "not every queue is served"
        if slow := why_slow(delay.worst_s(), *longest_delay()):
            return slow
        try:
            well = await client.service_client.check_health(timeout=timedelta(seconds=3))
        except RPCError:
            well = False
        return "" if well else "Temporal does not answer"

    health = HealthServer(settings.health_address, check)
    try:
        await health.start()
    except OSError as error:
        raise SettingsError(
            "HEALTH_ADDRESS", f"nothing can listen there ({error.strerror})", "a free address"
        ) from None
    return health


def _show_metrics(meter: MetricMeter, namespace: str, parts: Parts, roles: tuple[str, ...]) -> None:
    """Show the metrics of these roles at zero, with the labels that the SDK adds later: under
    other labels they would be separate series that never grow."""
    routes = served_routes(parts)
    if "workflows" in roles:
        labels = {
            "namespace": namespace,
            "task_queue": WORKFLOW_QUEUE,
            "workflow_type": DocumentWorkflow.__name__,
        }
        names = [f"{provider}:{model}" for provider, model in routes]
        show_documents(meter.with_additional_attributes(labels), names)
        labels["workflow_type"] = WatchWorkflow.__name__
        show_watch(meter.with_additional_attributes(labels))
    if "ai" in roles:
        for (provider, model), limit in routes.items():
            labels = {
                "namespace": namespace,
                "task_queue": route_queue(provider, model),
                "activity_type": RecognizePage.recognize_page.__name__,
            }
            show_route(meter.with_additional_attributes(labels), f"{provider}:{model}", limit)


async def _watch_queues(client: Client, meter: MetricMeter, queues: Sequence[str]) -> None:
    """Keep the depths of these queues up to date; every worker of a queue shows the same."""
    recorder = MetricRecorder(meter)
    activities = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
    while True:
        for queue in queues:
            try:
                depth = await waiting_tasks(client, queue, activities)
                if queue == WORKFLOW_QUEUE:
                    workflows = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
                    depth += await waiting_tasks(client, queue, workflows)
            except RPCError as error:
                log.warning("queue_depth_unknown", queue=queue, error=error.message)
            else:
                recorder.set_level(QUEUE_DEPTH, depth, queue=queue)
        await asyncio.sleep(LOOK_AT_QUEUES_EVERY_S)


async def register(settings: Settings) -> None:
    """Add the search attributes that the cluster's namespace lacks."""
    client = await connect(settings)
    give_up_at = time.monotonic() + NAMESPACE_WITHIN_S
    while True:
        try:
            added = await register_search_attributes(client)
            break
        except RPCError as error:
            absent = error.status is RPCStatusCode.NOT_FOUND
            if not absent or time.monotonic() > give_up_at:
                raise refused_by_temporal(error) from None
            await asyncio.sleep(1.0)
    log.info("search_attributes_added", names=added)


async def run_workers(workers: Sequence[Worker], stop: asyncio.Event) -> None:
    """Run until stopped, or until one worker fails; then shut all of them down."""
    running = [asyncio.create_task(worker.run()) for worker in workers]
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.gather(*running)
