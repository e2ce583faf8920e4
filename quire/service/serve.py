"""A service, from its start to its end: serves its state folder until nothing needs it."""

import asyncio
import fcntl
import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import structlog
from temporalio.service import RPCError

from quire.app.own_workers import Leaving, Own, open_own
from quire.app.parts import open_traces
from quire.app.store_upkeep import PERIOD_S, tend_store
from quire.contracts.names import ROLES
from quire.domain import errors
from quire.domain.errors import QuireError
from quire.service.log_file import LogFile
from quire.service.note import Note, State, read_note
from quire.settings import Settings
from quire.settings.handed_over import shown_values
from quire.stop_signals import on_stop_signals
from quire.telemetry.logs import configure_logs
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.open_work import count_open
from quire.temporal.seats import Seat, Seats, try_lock

log = structlog.get_logger("quire.service")
LOOK_EVERY_S = 0.5
# Without an answer of the server it is unknown whether documents run.
SILENT_S = 60.0
# Beside the time that calls in flight get.
STOP_MARGIN_S = 10.0


class Service:
    """Serves on its seat, and keeps its note true."""

    def __init__(self, settings: Settings, seat: Seat, server: EmbeddedServer) -> None:
        self._settings, self._seat, self._server = settings, seat, server
        self._seats = Seats(settings.state_dir)
        self._path = self._seats.path(seat.number, "json")
        self._log = LogFile(self._seats.path(seat.number, "log"))
        self._users = os.open(self._seats.path(seat.number, "users"), os.O_CREAT | os.O_RDWR, 0o600)
        self._note = read_note(self._path) or Note.starting(settings)
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Serve until it is stopped, or not needed for long enough."""
        on_stop_signals(self._stopped, signal.SIGTERM, signal.SIGINT)
        longest = max(map(self._settings.timeout_of, self._settings.providers)) + 5
        leaving = Leaving(timedelta(seconds=longest), longest + STOP_MARGIN_S)
        traces = open_traces(self._settings, role="service")
        async with open_own(
            self._settings, ROLES, traces, leaving, server=self._server, seat=self._seat
        ) as own:
            self._say_ready(own)
            tending = asyncio.create_task(self._tend(own))
            log.info("service_ready", address=own.server.address, seat=self._seat.number)
            await self._until_needless(own)
            self._say("ending")
            tending.cancel()
        self._path.unlink(missing_ok=True)
        log.info("service_ended")

    def fail(self, error: QuireError) -> None:
        """Say why it could not start."""
        self._note = self._note.with_state("failed", error.info)
        self._say("failed")

    def _stopped(self) -> None:
        if self._stop.is_set():
            # Asked twice: what is in flight is given up.
            os._exit(0)
        self._say("ending")
        self._stop.set()

    def _say_ready(self, own: Own) -> None:
        self._note = replace(
            self._note,
            pid=os.getpid(),
            since=time.time(),
            address=own.server.address,
            ui_url=own.server.ui_url,
            server_pid=own.server.pid,
            shown=shown_values(self._settings),
        )
        self._say("ready")

    def _say(self, state: State) -> None:
        self._note = self._note.with_state(state, self._note.failure)
        with suppress(OSError):
            self._note.write(self._path)

    async def _until_needless(self, own: Own) -> None:
        needed_at = answered_at = time.monotonic()
        while not self._stop.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._stop.wait()
            with suppress(OSError):
                self._log.keep_small()
            if own.workers.failed:
                log.error("worker_ended")
                return
            if not self._seats.path(self._seat.number, "lock").exists():
                # Its state folder was removed: no one can find it any more.
                return
            now = time.monotonic()
            with suppress(RPCError):
                if await self._is_needed(own):
                    needed_at = now
                answered_at = now
            silent = now - answered_at > SILENT_S
            enough = silent or answered_at == now
            if enough and now - needed_at >= self._settings.service_idle:
                # Held by a command, which then either uses this service or ends it: look again.
                with suppress(QuireError, RPCError), self._seats.locked(within_s=0.0):
                    if silent or not await self._is_needed(own):
                        self._say("ending")
                        log.info("service_idle")
                        return

    async def _is_needed(self, own: Own) -> bool:
        return (
            self._has_users()
            or await asyncio.to_thread(lambda: self._server.has_others)
            or bool(await count_open(own.client, own.workers.queues))
        )

    def _has_users(self) -> bool:
        if not try_lock(self._users):
            return True
        fcntl.flock(self._users, fcntl.LOCK_UN)
        return False

    async def _tend(self, own: Own) -> None:
        while True:
            await asyncio.sleep(PERIOD_S - time.time() % PERIOD_S)
            await tend_store(self._settings, own.workers.parts.store, own.client)


def run(settings: Settings, seat: Seat, server: EmbeddedServer, failure: Exception | None) -> int:
    """Serve, and say how it ended by an exit code."""
    configure_logs(settings.log_level, settings.log_format)

    async def serve() -> int:
        service = Service(settings, seat, server)
        try:
            if failure is not None:
                raise failure
            await service.run()
        except QuireError as error:
            log.error("service_failed", error=error.info.line())
            service.fail(error)
            return 1
        except OSError as error:
            log.exception("service_failed")
            service.fail(errors.folder_unusable(error))
            return 1
        except Exception as error:
            log.exception("service_failed")
            service.fail(errors.command_broke(error))
            return 1
        return 0

    # The runner is never closed: what is still open ends with the process.
    return asyncio.Runner().run(serve())
