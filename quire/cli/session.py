"""A command's connection: to a cluster, or to the embedded server with workers in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client
from temporalio.worker import Worker

from quire.app import ROLES, House, build_house, build_workers
from quire.settings import Settings
from quire.telemetry.traces import NoTraces, start_traces
from quire.temporal.connect import connect
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.runtime import quiet_runtime
from quire.temporal.search_attributes import register_search_attributes


@dataclass(frozen=True)
class Session:
    """What a command works with."""

    settings: Settings
    client: Client
    embedded: bool
    traces: NoTraces
    ui_url: str | None = None


@asynccontextmanager
async def open_session(
    settings: Settings, roles: tuple[str, ...] = ROLES
) -> AsyncIterator[Session]:
    """In embedded mode, documents of this state folder go on while the session is open."""
    traces = start_traces(settings.otel_service_name, role="tool", wanted=settings.tracing)
    if settings.temporal_address:
        client = await connect(settings, runtime=quiet_runtime(), plugins=traces.plugins)
        try:
            yield Session(settings, client, embedded=False, traces=traces)
        finally:
            await traces.close()
        return
    house = build_house(settings, traces)
    server = EmbeddedServer(settings.state_dir)
    workers: list[Worker] = []
    running: list[asyncio.Task[None]] = []
    try:
        if "documents" in roles:
            # MuPDF's child starts while the server does.
            house.documents.warm_up()
        info = await server.start()
        client = await connect(
            settings, info.address, runtime=quiet_runtime(), plugins=traces.plugins
        )
        # A state folder of an older version lacks those that came later, and a document that
        # sets an unknown one could never end.
        await register_search_attributes(client)
        workers = build_workers(client, house, roles)
        running = [asyncio.create_task(worker.run()) for worker in workers]
        if "ai" in roles:
            running.append(asyncio.create_task(house.warm_up()))
        yield Session(settings, client, embedded=True, traces=traces, ui_url=info.ui_url)
    finally:
        await _leave(server, house, workers, running)


@asynccontextmanager
async def answering(session: Session) -> AsyncIterator[None]:
    """Queries find an answer: a cluster has workers for that, the embedded server gets one."""
    if not session.embedded:
        yield
        return
    house = build_house(session.settings)
    (worker,) = build_workers(session.client, house, ("workflows",))
    try:
        async with worker:
            yield
    finally:
        await house.close()


async def _leave(
    server: EmbeddedServer, house: House, workers: list[Worker], running: list[asyncio.Task[None]]
) -> None:
    """The last one out switches off the light, and need not say goodbye to the server.

    While others use the server, leave in order: tasks handed to a poller that is gone would be
    lost until their timeout.
    """
    if not server.stop_if_last():
        await asyncio.gather(*(worker.shutdown() for worker in workers), return_exceptions=True)
        await asyncio.gather(*running, return_exceptions=True)
        server.leave()
    await house.close()
