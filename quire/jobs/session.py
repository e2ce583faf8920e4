"""A connection for use cases: to a cluster, or to the embedded server with workers in this process.

Use cases that ask the server take a `Jobs` as their first argument; those that need only settings
or a handle of a job take these.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from quire.app.parts import Parts, build_parts, open_store, open_traces
from quire.app.store_upkeep import tend_store
from quire.app.workers import build_workers
from quire.contracts.names import ROLES
from quire.settings import Settings
from quire.telemetry.traces import NoTraces
from quire.temporal.connect import connect, refused_by_temporal
from quire.temporal.embedded import EmbeddedServer, check_room
from quire.temporal.runtime import quiet_runtime
from quire.temporal.search_attributes import register_search_attributes
from quire.temporal.signature import SignStarts, StartKeys
from quire.temporal.watch_schedule import schedule_watch

# How long calls in flight may take once a program closes its client.
CLOSING_GRACE = timedelta(seconds=1)
# And how long workers may take to end: a program must not hang for ever.
CLOSING_LIMIT_S = 20.0
# How long a command waits at its end for the upkeep of the store.
TENDING_LIMIT_S = 10.0


@dataclass(frozen=True)
class Jobs:
    """What a use case works with: the settings, and a connection to the server of the jobs."""

    settings: Settings
    client: Client
    embedded: bool
    traces: NoTraces
    ui_url: str | None = None
    # Workers of this process answer queries.
    answers_queries: bool = False


@asynccontextmanager
async def open_jobs(
    settings: Settings, roles: tuple[str, ...] = ROLES, *, process_continues: bool = False
) -> AsyncIterator[Jobs]:
    """Connect, and in embedded mode serve these roles: documents of the state folder continue while
    the connection is open. Refusals of Temporal are raised as errors of the catalogue.

    With `process_continues` nothing is left to the end of the process, which is someone else's.
    """
    opened = (
        _open_cluster(settings)
        if settings.temporal_address
        else _open_own(settings, roles, process_continues)
    )
    with temporal_errors(settings):
        async with opened as jobs:
            yield jobs


@contextmanager
def temporal_errors(settings: Settings) -> Iterator[None]:
    """Refusals of Temporal, or its silence, as errors of the catalogue."""
    try:
        yield
    except RPCError as error:
        if not settings.temporal_address:
            # An embedded server without room for its database fails in many ways.
            check_room(settings.state_dir.expanduser().absolute())
        raise refused_by_temporal(error) from error


@asynccontextmanager
async def _open_cluster(settings: Settings) -> AsyncIterator[Jobs]:
    traces = open_traces(settings, role="tool")
    client = await _connect(settings, traces)
    try:
        yield Jobs(settings, client, embedded=False, traces=traces)
    finally:
        await traces.close()


@asynccontextmanager
async def _open_own(
    settings: Settings, roles: tuple[str, ...], process_continues: bool
) -> AsyncIterator[Jobs]:
    traces = open_traces(settings, role="tool")
    parts = build_parts(settings, traces)
    server = EmbeddedServer(settings.state_dir)
    workers: list[Worker] = []
    running: list[asyncio.Task[None]] = []
    tending: asyncio.Task[None] | None = None
    try:
        if "documents" in roles:
            # MuPDF's child starts while the server does.
            parts.documents.warm_up()
        info = await server.start()
        client = await _connect(settings, traces, info.address)
        # The state folder may be of an older version that lacks some of them, and a document that
        # sets an unknown attribute could never end.
        await register_search_attributes(client)
        grace = CLOSING_GRACE if process_continues else None
        workers = build_workers(client, parts, roles, grace)
        running = [asyncio.create_task(worker.run()) for worker in workers]
        if "ai" in roles:
            running.append(asyncio.create_task(parts.warm_up()))
        if "documents" in roles:
            tending = asyncio.create_task(tend_store(settings, parts.store, client))
        if roles == ROLES:
            running.append(asyncio.create_task(_schedule_watch(client, settings)))
        yield Jobs(
            settings,
            client,
            embedded=True,
            traces=traces,
            ui_url=info.ui_url,
            answers_queries="workflows" in roles,
        )
    finally:
        if tending is not None:
            await asyncio.wait([tending], timeout=TENDING_LIMIT_S)
            tending.cancel()
        if process_continues:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSING_LIMIT_S):
                    await _stop_workers(workers, running)
        await _leave(server, parts, workers, running)


async def _schedule_watch(client: Client, settings: Settings) -> None:
    # The next command tries again.
    with suppress(RPCError):
        await schedule_watch(client, settings.watch_interval)


@asynccontextmanager
async def query_worker(jobs: Jobs) -> AsyncIterator[None]:
    """Serve queries meanwhile: a cluster has workers for that, the embedded server gets one."""
    if not jobs.embedded or jobs.answers_queries:
        yield
        return
    parts = build_parts(jobs.settings)
    (worker,) = build_workers(jobs.client, parts, ("workflows",))
    try:
        async with worker:
            yield
    finally:
        await parts.close()


async def _connect(settings: Settings, traces: NoTraces, address: str | None = None) -> Client:
    return await connect(
        settings,
        address,
        runtime=quiet_runtime(),
        plugins=traces.plugins,
        interceptors=[SignStarts(StartKeys(settings, open_store(settings)))],
    )


async def _leave(
    server: EmbeddedServer, parts: Parts, workers: list[Worker], running: list[asyncio.Task[None]]
) -> None:
    """Stop the server if this is its last command, which need not close its connection first.

    While other commands use the server, workers shut down in order: tasks given to a poller that
    is gone would be lost until their timeout.
    """
    if not server.stop_if_last():
        await _stop_workers(workers, running)
        server.leave()
    await parts.close()


async def _stop_workers(workers: list[Worker], running: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*(worker.shutdown() for worker in workers), return_exceptions=True)
    await asyncio.gather(*running, return_exceptions=True)
