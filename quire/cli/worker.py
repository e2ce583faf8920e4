"""quire-worker: serves the queues of a cluster (or of this machine's embedded server)."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Annotated

import structlog
import typer
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from quire.app import ROLES, build_house, build_workers, show_metrics
from quire.domain.errors import QuireError, SettingsError
from quire.settings import Settings, load_settings
from quire.telemetry.health import HealthServer
from quire.telemetry.logs import configure_logs
from quire.telemetry.traces import start_traces
from quire.temporal.connect import check_namespace, connect, refused_by_temporal
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.runtime import worker_runtime
from quire.temporal.search_attributes import register_search_attributes

log = structlog.get_logger("quire.worker")
app = typer.Typer(add_completion=False, help=__doc__)
# A server learns of a namespace that has just been made some seconds late.
NAMESPACE_WITHIN_S = 15.0


async def serve(settings: Settings, roles: tuple[str, ...]) -> None:
    """Run until SIGTERM or SIGINT, then finish what is in flight and hand back the rest."""
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    # First, since an address that is taken must not leave a server behind.
    runtime = worker_runtime(settings)
    async with AsyncExitStack() as leaving:
        address = None
        if not settings.temporal_address:
            server = EmbeddedServer(settings.state_dir)
            leaving.callback(server.leave)
            address = (await server.start()).address
        traces = start_traces(
            settings.otel_service_name, role=",".join(roles), wanted=settings.tracing
        )
        client = await connect(settings, address, runtime=runtime, plugins=traces.plugins)
        await check_namespace(client)
        await _check_search_attributes(client)
        house = build_house(settings, traces)
        leaving.push_async_callback(house.close)
        warming = asyncio.create_task(house.warm_up())
        leaving.callback(warming.cancel)
        workers = build_workers(client, house, roles)
        if settings.metrics_address:
            show_metrics(runtime.metric_meter, client.namespace, house, roles)
        for left_out in sorted(
            plan.missing for plan in house.defaults.providers.values() if plan.missing
        ):
            log.warning("provider_left_out", reason=left_out)
        if health := await _serve_health(settings, client, workers, stop):
            leaving.push_async_callback(health.close)
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


async def _serve_health(
    settings: Settings, client: Client, workers: Sequence[Worker], stop: asyncio.Event
) -> HealthServer | None:
    if not settings.health_address:
        return None

    async def check() -> str:
        if stop.is_set():
            return "it is shutting down"
        if not all(worker.is_running for worker in workers):
            return "not every queue is served"
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
    """Run until told to stop or until one worker fails; then shut all of them down."""
    running = [asyncio.create_task(worker.run()) for worker in workers]
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.gather(*running)


@app.command()
def worker(
    roles: Annotated[
        str, typer.Option(help="Which queues to serve, comma-separated: " + ", ".join(ROLES))
    ] = ",".join(ROLES),
    register_only: Annotated[
        bool,
        typer.Option("--register", help="Only add the search attributes to TEMPORAL_NAMESPACE."),
    ] = False,
) -> None:
    """Serve the queues until stopped."""
    chosen = tuple(part.strip() for part in roles.split(",") if part.strip())
    unknown = [role for role in chosen if role not in ROLES]
    if unknown or not chosen:
        raise typer.BadParameter(f"{roles!r}: choose from {', '.join(ROLES)}", param_hint="--roles")
    settings = load_settings()
    configure_logs(settings.log_level, settings.log_format)
    asyncio.run(register(settings) if register_only else serve(settings, chosen))


def main() -> None:
    code = 0
    try:
        app(standalone_mode=False)
    except QuireError as error:
        sys.stderr.write(error.info.line() + "\n")
        code = 2
    except typer.Exit as leaving:
        code = leaving.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        sys.stderr.write(f"{error.format_message()}\n")
        code = 2
    # Interpreter teardown after the SDK's threads have run can crash (sdk-python issue 300).
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
