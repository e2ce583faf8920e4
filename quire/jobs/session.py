"""A connection for use cases: to a cluster, to the service of this machine, or to a server and
workers in this process.

Use cases that ask the server take a `Jobs` as their first argument; those that need only settings
or a handle of a job take these.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import Client
from temporalio.service import RPCError

from quire.app.own_workers import Leaving, connect_tool, open_own
from quire.app.parts import build_parts, open_traces
from quire.app.workers import build_workers
from quire.contracts.names import ROLES, WORKFLOW_QUEUE, seat_queue
from quire.domain.errors import QuireError
from quire.service.link import ServiceLink
from quire.service.note import Note
from quire.settings import Settings
from quire.telemetry.traces import NoTraces
from quire.temporal.connect import connect, refused_by_temporal
from quire.temporal.embedded import check_room
from quire.temporal.open_work import count_open

# How long calls in flight may take once a program closes its client, and all of the closing.
PROGRAM_CONTINUES = Leaving(timedelta(seconds=1), 20.0)


@dataclass(frozen=True)
class Jobs:
    """What a use case works with: the settings, and a connection to the server of the jobs."""

    settings: Settings
    client: Client
    embedded: bool
    traces: NoTraces
    ui_url: str | None = None
    # Workers of this process, or of the service, answer queries.
    answers_queries: bool = False
    # Where what is started here is served under these settings.
    queue: str = WORKFLOW_QUEUE
    # A service has the jobs, and goes on with them without this process.
    service: bool = False
    # What a person should know about the service, if anything.
    notice: str = ""


@asynccontextmanager
async def open_jobs(
    settings: Settings,
    roles: tuple[str, ...] = ROLES,
    *,
    process_continues: bool = False,
    own_settings: bool = True,
) -> AsyncIterator[Jobs]:
    """Connect to the cluster, or else to the service of this machine, which is started where all
    roles are needed. With SERVICE_MODE=off, and for some roles where no service runs, this process
    serves the roles: documents of the state folder go on while the connection is open.

    Refusals of Temporal are raised as errors of the catalogue. With `process_continues` nothing is
    left to the end of the process, which is someone else's. Without `own_settings` a service with
    other settings will do: nothing is started that they could change.
    """
    opened = await _way_to_open(settings, roles, process_continues, own_settings)
    with temporal_errors(settings):
        async with opened as jobs:
            yield jobs


async def _way_to_open(
    settings: Settings, roles: tuple[str, ...], process_continues: bool, own_settings: bool
) -> AbstractAsyncContextManager[Jobs]:
    if settings.temporal_address:
        return _open_cluster(settings)
    if settings.service_mode == "auto":
        link = ServiceLink(settings, any_settings=roles != ROLES or not own_settings)
        with _room_for_service(settings):
            if roles == ROLES:
                return _open_service(
                    settings,
                    link,
                    await link.open(_is_idle(settings)),
                    process_continues=process_continues,
                )
            if note := await link.open_running():
                return _open_service(settings, link, note, process_continues=process_continues)
    return _open_here(settings, roles, process_continues)


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


@contextmanager
def _room_for_service(settings: Settings) -> Iterator[None]:
    """A service that finds no room cannot even write that down."""
    try:
        yield
    except QuireError:
        check_room(settings.state_dir.expanduser().absolute())
        raise


@asynccontextmanager
async def _open_cluster(settings: Settings) -> AsyncIterator[Jobs]:
    traces = open_traces(settings, role="tool")
    client = await connect_tool(settings, traces)
    try:
        yield Jobs(settings, client, embedded=False, traces=traces)
    finally:
        await traces.close()


@asynccontextmanager
async def _open_service(
    settings: Settings, link: ServiceLink, note: Note, *, process_continues: bool
) -> AsyncIterator[Jobs]:
    traces = open_traces(settings, role="tool")
    keeping = asyncio.create_task(link.keep())
    try:
        # The task of a program is its own: its next call says that the server is gone.
        with nullcontext() if process_continues else _ended_with(keeping):
            yield Jobs(
                settings,
                await connect_tool(settings, traces, note.address),
                embedded=True,
                traces=traces,
                ui_url=note.ui_url,
                answers_queries=True,
                queue=seat_queue(link.number),
                service=True,
                notice=link.notice,
            )
    finally:
        keeping.cancel()
        link.close()
        await traces.close()


@contextmanager
def _ended_with(keeping: asyncio.Task[None]) -> Iterator[None]:
    """End what is done here when the service cannot be kept up, and say why."""
    command = asyncio.current_task()
    assert command is not None, "a connection is opened by a task"
    keeping.add_done_callback(lambda ended: ended.cancelled() or command.cancel())
    try:
        yield
    except asyncio.CancelledError:
        if not keeping.done():
            raise
    if keeping.done():
        command.uncancel()
        keeping.result()


def _is_idle(settings: Settings) -> Callable[[Note, str], Awaitable[bool]]:
    async def is_idle(note: Note, queue: str) -> bool:
        """Whether nothing is open that a service has; one that does not answer may have work."""
        try:
            client = await connect(settings, note.address)
            return await count_open(client, [queue]) == 0
        except (QuireError, RPCError):
            return False

    return is_idle


@asynccontextmanager
async def _open_here(
    settings: Settings, roles: tuple[str, ...], process_continues: bool
) -> AsyncIterator[Jobs]:
    traces = open_traces(settings, role="tool")
    leaving = PROGRAM_CONTINUES if process_continues else Leaving()
    async with open_own(settings, roles, traces, leaving) as own:
        yield Jobs(
            settings,
            own.client,
            embedded=True,
            traces=traces,
            ui_url=own.server.ui_url,
            answers_queries="workflows" in roles,
            queue=own.queue,
        )


@asynccontextmanager
async def query_worker(jobs: Jobs) -> AsyncIterator[None]:
    """Serve queries meanwhile: a cluster has workers for that, as has a service."""
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
