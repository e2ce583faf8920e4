"""The service of this machine: what it does, how it is stopped, and its Web UI at one address."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from temporalio.service import RPCError

from quire.contracts.names import job_id_of, seat_queue
from quire.domain import errors
from quire.domain.errors import QuireError, SettingsError, UsageError
from quire.jobs.session import Jobs
from quire.service.link import hasten_service, running_services
from quire.service.memory import memory_of
from quire.service.note import Note
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.open_work import list_open
from quire.temporal.seats import Seats

__all__ = [
    "ServiceStatus",
    "StopOutcome",
    "hasten_service",
    "serve_ui",
    "service_status",
    "stop_services",
]

LOOK_EVERY_S = 0.05
_CHUNK = 65536


@dataclass(frozen=True)
class ServiceStatus:
    """A service; its fields are those of the JSON."""

    pid: int
    state: str
    since: float
    address: str
    ui_url: str
    # The ids of what is open on its queues; None where its server does not say.
    open: list[str] | None
    settings: dict[str, str]
    # Settings of this command that it does not have.
    differs: list[str]
    memory_bytes: int
    processes: int
    log: str


@dataclass(frozen=True)
class StopOutcome:
    """How many services were stopped, and the ids of what is kept for the next one."""

    stopped: int
    kept: list[str]


def _seats(settings: Settings) -> Seats:
    if settings.cluster:
        raise UsageError(
            "TEMPORAL_ADDRESS is set: a cluster's workers are no service of this machine.",
            "`quire doctor` says which workers there are.",
        )
    return Seats(settings.state_dir)


async def service_status(settings: Settings) -> list[ServiceStatus]:
    """The services of the state folder: one, or more while settings differ."""
    seats = _seats(settings)
    found = running_services(seats).items()
    return [await _status(settings, seats, number, note) for number, note in found]


async def _status(settings: Settings, seats: Seats, number: int, note: Note) -> ServiceStatus:
    size, processes = memory_of(note.pid, note.server_pid)
    return ServiceStatus(
        pid=note.pid,
        state=note.state,
        since=note.since,
        address=note.address,
        ui_url=note.ui_url,
        open=await _open_ids(settings, number, note),
        settings=note.shown,
        differs=note.differences(settings),
        memory_bytes=size,
        processes=processes,
        log=str(seats.path(number, "log")),
    )


async def _open_ids(settings: Settings, number: int, note: Note) -> list[str] | None:
    if not note.address:
        return []
    with suppress(QuireError, RPCError):
        client = await connect(settings, note.address)
        return [job_id_of(one.id) for one in await list_open(client, [seat_queue(number)])]
    return None


async def stop_services(settings: Settings, *, now: bool = False) -> StopOutcome:
    """End the services once their calls in flight are done, or with `now` at once."""
    seats = _seats(settings)
    running = running_services(seats)
    kept: list[str] = []
    for number, note in running.items():
        kept += await _open_ids(settings, number, note) or []
    longest = max(map(settings.timeout_of, settings.providers)) + 30.0
    for _ in range(2 if now else 1):
        for number, note in running.items():
            if note.pid and seats.is_taken(number):
                with suppress(ProcessLookupError):
                    os.kill(note.pid, signal.SIGTERM)
        # Only a signal that was taken in makes the next one a second one.
        await asyncio.sleep(LOOK_EVERY_S)
    give_up_at = time.monotonic() + longest
    while any(map(seats.is_taken, running)):
        if time.monotonic() > give_up_at:
            raise errors.service_does_not_end([note.pid for note in running.values()])
        await asyncio.sleep(LOOK_EVERY_S)
    return StopOutcome(len(running), kept)


@asynccontextmanager
async def serve_ui(jobs: Jobs) -> AsyncIterator[str]:
    """Temporal's Web UI at the address of `UI_PORT_NUMBER`, wherever the service has it: what
    comes in is passed on as it is."""
    if jobs.ui_url is None:
        raise UsageError(
            "TEMPORAL_ADDRESS is set: a cluster's Web UI is where its operators put it.",
            "Ask them for its address.",
        )
    host, _, port = jobs.ui_url.removeprefix("http://").partition(":")
    wanted = jobs.settings.ui_port_number

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(host, int(port))
        except OSError:
            # The server is being started again: the browser tries again too.
            writer.close()
            return
        await asyncio.gather(_copy(reader, back), _copy(there, writer))

    try:
        server = await asyncio.start_server(pass_on, "127.0.0.1", wanted)
    except OSError as error:
        raise SettingsError(
            "UI_PORT_NUMBER", f"nothing can listen at {wanted} ({error.strerror})", "a free port"
        ) from None
    async with server:
        yield f"http://127.0.0.1:{wanted}"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()
