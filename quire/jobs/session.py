"""A connection for use cases: to a cluster, or to the embedded server with workers in this process.

Use cases that ask the server take a `Jobs` as their first argument; those that need only settings
or a handle of a job take these.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from quire.app import Parts, build_parts, build_workers
from quire.contracts.names import ROLES
from quire.settings import Settings
from quire.telemetry.traces import NoTraces, start_traces
from quire.temporal.connect import connect, refused_by_temporal
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.runtime import quiet_runtime
from quire.temporal.search_attributes import register_search_attributes


@dataclass(frozen=True)
class Jobs:
    """What a use case works with: the settings, and a connection to the server of the jobs."""

    settings: Settings
    client: Client
    embedded: bool
    traces: NoTraces
    ui_url: str | None = None


@asynccontextmanager
async def open_jobs(settings: Settings, roles: tuple[str, ...] = ROLES) -> AsyncIterator[Jobs]:
    """Connect, and in embedded mode serve these roles: documents of the state folder continue while
    the connection is open. Refusals of Temporal are raised as errors of the catalogue."""
    opened = _open_cluster(settings) if settings.temporal_address else _open_own(settings, roles)
    try:
        async with opened as jobs:
            yield jobs
    except RPCError as error:
        raise refused_by_temporal(error) from error


@asynccontextmanager
async def _open_cluster(settings: Settings) -> AsyncIterator[Jobs]:
    traces = _traces(settings)
    client = await connect(settings, runtime=quiet_runtime(), plugins=traces.plugins)
    try:
        yield Jobs(settings, client, embedded=False, traces=traces)
    finally:
        await traces.close()


@asynccontextmanager
async def _open_own(settings: Settings, roles: tuple[str, ...]) -> AsyncIterator[Jobs]:
    traces = _traces(settings)
    parts = build_parts(settings, traces)
    server = EmbeddedServer(settings.state_dir)
    workers: list[Worker] = []
    running: list[asyncio.Task[None]] = []
    try:
        if "documents" in roles:
            # MuPDF's child starts while the server does.
            parts.documents.warm_up()
        info = await server.start()
        client = await connect(
            settings, info.address, runtime=quiet_runtime(), plugins=traces.plugins
        )
        # The state folder may be of an older version that lacks some of them, and a document that
        # sets an unknown attribute could never end.
        await register_search_attributes(client)
        workers = build_workers(client, parts, roles)
        running = [asyncio.create_task(worker.run()) for worker in workers]
        if "ai" in roles:
            running.append(asyncio.create_task(parts.warm_up()))
        yield Jobs(settings, client, embedded=True, traces=traces, ui_url=info.ui_url)
    finally:
        await _leave(server, parts, workers, running)


@asynccontextmanager
async def query_worker(jobs: Jobs) -> AsyncIterator[None]:
    """Serve queries meanwhile: a cluster has workers for that, the embedded server gets one."""
    if not jobs.embedded:
        yield
        return
    parts = build_parts(jobs.settings)
    (worker,) = build_workers(jobs.client, parts, ("workflows",))
    try:
        async with worker:
            yield
    finally:
        await parts.close()


def _traces(settings: Settings) -> NoTraces:
    return start_traces(settings.otel_service_name, role="tool", wanted=settings.tracing)


async def _leave(
    server: EmbeddedServer, parts: Parts, workers: list[Worker], running: list[asyncio.Task[None]]
) -> None:
    """Stop the server if this is its last command, which need not close its connection first.

    While other commands use the server, workers shut down in order: tasks given to a poller that
    is gone would be lost until their timeout.
    """
    if not server.stop_if_last():
        await asyncio.gather(*(worker.shutdown() for worker in workers), return_exceptions=True)
        await asyncio.gather(*running, return_exceptions=True)
        server.leave()
    await parts.close()
