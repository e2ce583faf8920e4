"""The server of a state folder and the workers of this process: what a service is made of, and what
a command runs itself where there is to be no service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from quire.app.parts import Parts, build_parts, open_store
from quire.app.store_upkeep import tend_store
from quire.app.workers import build_workers
from quire.contracts.names import ROLES, WORKFLOW_QUEUE
from quire.settings import Settings
from quire.telemetry.traces import NoTraces
from quire.temporal.connect import connect
from quire.temporal.embedded import EmbeddedServer, ServerInfo
from quire.temporal.open_work import count_open
from quire.temporal.runtime import quiet_runtime
from quire.temporal.search_attributes import register_search_attributes
from quire.temporal.seats import Seat, Seats
from quire.temporal.signature import SignStarts, StartKeys
from quire.temporal.watch_schedule import schedule_watch

# How long a command waits at its end for the upkeep of the store.
TENDING_LIMIT_S = 10.0
# How soon documents are taken over whose worker has died.
TAKE_OVER_EVERY_S = 1.0


@dataclass(frozen=True)
class Leaving:
    """How workers end: `grace` for calls in flight, `limit_s` for all of it. Without a limit, the
    last to leave kills the server first, and what is in flight is lost: a person waits."""

    grace: timedelta | None = None
    limit_s: float | None = None


class OwnWorkers:
    """The workers of this process, on its seat and on those that it has taken over."""

    def __init__(
        self, client: Client, parts: Parts, roles: tuple[str, ...], grace: timedelta | None
    ) -> None:
        self.client, self.parts, self.roles = client, parts, roles
        self._build = partial(build_workers, client, parts, roles, grace)
        self._workers: list[Worker] = []
        self._running: list[asyncio.Task[None]] = []
        self._beside: list[asyncio.Task[None]] = []
        self.seats: list[Seat] = []

    @property
    def queues(self) -> list[str]:
        """The workflow queues that are served."""
        return [seat.queue for seat in self.seats]

    def serve(self, seat: Seat) -> None:
        """Serve the queues of this seat."""
        workers = self._build(seat.queue)
        self.seats.append(seat)
        self._workers += workers
        self._running += [asyncio.create_task(worker.run()) for worker in workers]

    def beside(self, task: asyncio.Task[None]) -> None:
        """A task that ends with the workers."""
        self._beside.append(task)

    async def take_over(self, seats: Seats) -> None:
        """Serve documents that are open on a seat of which the owner has gone."""
        mine = {seat.number for seat in self.seats}
        for number in set(seats.known()) - mine:
            seat = seats.take_one(number)
            if seat is None:
                continue
            if await count_open(self.client, [seat.queue]):
                self.serve(seat)
            else:
                seat.release()

    async def stop(self) -> None:
        """Shut down in order: tasks given to a poller that is gone would be lost until their
        timeout."""
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*(one.shutdown() for one in self._workers), return_exceptions=True)
        await asyncio.gather(*self._running, *self._beside, return_exceptions=True)

    @property
    def failed(self) -> bool:
        """Whether a worker has ended by itself."""
        return any(not one.is_running for one in self._workers)


@dataclass(frozen=True)
class Own:
    """What this process runs."""

    client: Client
    server: ServerInfo
    workers: OwnWorkers
    queue: str


@asynccontextmanager
async def open_own(
    settings: Settings,
    roles: tuple[str, ...],
    traces: NoTraces,
    leaving: Leaving,
    *,
    server: EmbeddedServer | None = None,
    seat: Seat | None = None,
) -> AsyncIterator[Own]:
    """Start or join the server, and serve these roles on a seat: the documents of the state folder
    go on while this is open."""
    parts = build_parts(settings, traces)
    server = server or EmbeddedServer(settings.state_dir)
    seats, workers = Seats(settings.state_dir), None
    tending: asyncio.Task[None] | None = None
    try:
        if "documents" in roles:
            # MuPDF's child starts while the server does.
            parts.documents.warm_up()
        info = await server.start()
        client = await connect_tool(settings, traces, info.address)
        # The state folder may be of an older version that lacks some of them, and a document that
        # sets an unknown attribute could never end.
        await register_search_attributes(client)
        workers = OwnWorkers(client, parts, roles, leaving.grace)
        if roles:
            if seat is None:
                seat = await asyncio.to_thread(_take_seat, seats)
            workers.serve(seat)
            await _look(workers, seats)
            workers.beside(asyncio.create_task(_keep_looking(workers, seats)))
        if "ai" in roles:
            workers.beside(asyncio.create_task(parts.warm_up()))
        if "documents" in roles:
            tending = asyncio.create_task(tend_store(settings, parts.store, client))
        if roles == ROLES and WORKFLOW_QUEUE in workers.queues:
            workers.beside(asyncio.create_task(_schedule_watch(client, settings)))
        yield Own(client, info, workers, workers.queues[0] if roles else WORKFLOW_QUEUE)
    finally:
        if tending is not None:
            await asyncio.wait([tending], timeout=TENDING_LIMIT_S)
            tending.cancel()
        await _leave(server, parts, workers, leaving)


async def connect_tool(settings: Settings, traces: NoTraces, address: str | None = None) -> Client:
    """A connection that signs what it starts."""
    return await connect(
        settings,
        address,
        runtime=quiet_runtime(),
        plugins=traces.plugins,
        interceptors=[SignStarts(StartKeys(settings, open_store(settings)))],
    )


def _take_seat(seats: Seats) -> Seat:
    seats.make_folder()
    with seats.locked():
        return seats.take()


async def _keep_looking(workers: OwnWorkers, seats: Seats) -> None:
    while True:
        await asyncio.sleep(TAKE_OVER_EVERY_S)
        await _look(workers, seats)


async def _look(workers: OwnWorkers, seats: Seats) -> None:
    # A server that is away comes back, and the next look takes them over.
    with suppress(RPCError, OSError):
        await workers.take_over(seats)


async def _schedule_watch(client: Client, settings: Settings) -> None:
    # The next command tries again.
    with suppress(RPCError):
        await schedule_watch(client, settings.watch_interval)


async def _leave(
    server: EmbeddedServer, parts: Parts, workers: OwnWorkers | None, leaving: Leaving
) -> None:
    """Stop the server if this is its last user, which need not close its connection first."""
    if workers is not None and leaving.limit_s is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(leaving.limit_s):
                await workers.stop()
    if not server.stop_if_last():
        if workers is not None:
            await workers.stop()
        server.leave()
    for seat in workers.seats if workers is not None else ():
        seat.release()
    await parts.close()
