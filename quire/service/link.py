"""A command's link to a service: finds the one with its settings, starts it, and keeps it up."""

import asyncio
import fcntl
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from quire.contracts.names import seat_queue
from quire.domain import errors
from quire.domain.errors import QuireError
from quire.service.note import Note, read_note
from quire.service.start import last_line, start_service
from quire.settings import Settings
from quire.temporal.seats import Seats, try_lock

READY_WITHIN_S = 60.0
ENDS_WITHIN_S = 20.0
LEAVES_WITHIN_S = 2.0
LOOK_EVERY_S = 0.02
KEEP_EVERY_S = 0.5
# How often it is started again in a row, after pauses that double; one that has lived for so long
# had another reason to die.
MOST_TRIES = 4
FIRST_PAUSE_S = 0.5
STEADY_AFTER_S = 20.0
_USABLE = ("starting", "ready")
# Whether a service has nothing open on a workflow queue; asks its server.
IsIdle = Callable[[Note, str], Awaitable[bool]]


def running_services(seats: Seats) -> dict[int, Note]:
    """The services that run, or are being started, by their seat."""
    found = ((number, read_note(seats.path(number, "json"))) for number in seats.known())
    return {number: note for number, note in found if note is not None and seats.is_taken(number)}


def hasten_service(settings: Settings) -> None:
    """Have the service start while the command still loads its own parts, unless there is one."""
    if settings.cluster or settings.service_mode == "off":
        return
    link = ServiceLink(settings)
    # Whatever is wrong is said when the service is needed.
    with suppress(QuireError, OSError):
        link.begin()
        link.close()


class ServiceLink:
    """Uses a service. While it does, the service does not end by itself."""

    def __init__(self, settings: Settings, *, any_settings: bool = False) -> None:
        self._settings = settings
        self._any = any_settings
        self.seats = Seats(settings.state_dir)
        self.number = 0
        self.note: Note | None = None
        # What differs from a service that runs or ran under other settings.
        self.differing: list[str] = []
        self.renewed = False
        self._use: int | None = None

    @property
    def notice(self) -> str:
        """What was done about a service with other settings."""
        if not self.differing:
            return ""
        names = ", ".join(self.differing)
        done = (
            "the service is renewed, for it had other ones"
            if self.renewed
            else "the service at work has other ones, so a second one stands beside it"
        )
        return f"Settings differ ({names}): {done}."

    def begin(self, *, start: bool = True) -> bool:
        """Use the service with these settings, or start it; False where another one is in the way
        which may have to end first."""
        self.seats.make_folder()
        self._await_ends()
        with self.seats.locked():
            return self._begin(start=start)

    def _await_ends(self) -> None:
        """One that ends because nothing needed it takes no longer; then its seat is free."""
        give_up_at = time.monotonic() + LEAVES_WITHIN_S
        while time.monotonic() < give_up_at and any(
            note.state == "ending" for note in running_services(self.seats).values()
        ):
            time.sleep(LOOK_EVERY_S)

    def _begin(self, *, start: bool = True, beside: bool = False) -> bool:
        others: list[str] = []
        for number, note in running_services(self.seats).items():
            if note.state not in _USABLE:
                continue
            differing = note.differences(self._settings)
            if self._any or not differing:
                self._join(number)
                return True
            others = others or differing
        if others and not beside:
            self.differing = others
            return False
        if start:
            self._join(start_service(self._settings, self.seats))
        return start

    async def open(self, is_idle: IsIdle) -> Note:
        """The note of the service, once it is ready."""
        if not await asyncio.to_thread(self.begin):
            await self._renew_or_stand_beside(is_idle)
        return await self.ready()

    async def open_running(self) -> Note | None:
        """The note of a service that runs; none is started."""
        if not self.seats.folder.exists() or not await asyncio.to_thread(self.begin, start=False):
            return None
        return await self.ready()

    async def _renew_or_stand_beside(self, is_idle: IsIdle) -> None:
        with self.seats.locked():
            running = running_services(self.seats)
            # With several, one of them may keep the server of all.
            if len(running) == 1:
                [(number, note)] = running.items()
                if not self._is_used(number) and await is_idle(note, seat_queue(number)):
                    self.renewed = await self._end(number, note)
            self._begin(beside=True)

    def _is_used(self, number: int) -> bool:
        handle = self._open_users(number)
        try:
            return not try_lock(handle)
        finally:
            os.close(handle)

    async def _end(self, number: int, note: Note) -> bool:
        with suppress(ProcessLookupError):
            os.kill(note.pid, signal.SIGTERM)
        give_up_at = time.monotonic() + ENDS_WITHIN_S
        while taken := self.seats.is_taken(number):
            if time.monotonic() > give_up_at:
                break
            await asyncio.sleep(LOOK_EVERY_S)
        return not taken

    async def ready(self) -> Note:
        """The note of the service that is used, once that is ready."""
        path, log = (self.seats.path(self.number, kind) for kind in ("json", "log"))
        give_up_at = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < give_up_at:
            # In this order: a service that ends says so first.
            taken, note = self.seats.is_taken(self.number), read_note(path)
            if note is not None and note.failure is not None:
                raise QuireError.from_info(note.failure)
            if not taken:
                raise errors.service_failed(log, last_line(log))
            if note is not None and note.state == "ready":
                self.note = note
                return note
            await asyncio.sleep(LOOK_EVERY_S)
        raise errors.service_failed(log, last_line(log), slow=True)

    async def keep(self) -> None:
        """Bring the service back when it dies while it is needed: its documents wait for it. One
        that dies again and again is not started without end: then this says why."""
        tries, died_at = 0, 0.0
        while True:
            await asyncio.sleep(KEEP_EVERY_S)
            if self.seats.is_taken(self.number):
                continue
            tries = tries if time.monotonic() - died_at < STEADY_AFTER_S else 0
            log = self.seats.path(self.number, "log")
            if tries >= MOST_TRIES or not self.seats.folder.exists():
                raise errors.service_failed(log, last_line(log), dies=True)
            await asyncio.sleep(FIRST_PAUSE_S * 2**tries if tries else 0.0)
            tries += 1
            # While there is no room for it, try again.
            with suppress(QuireError, OSError):
                await self._bring_back()
            died_at = time.monotonic()

    async def _bring_back(self) -> None:
        self.close()
        if not await asyncio.to_thread(self.begin):
            with self.seats.locked():
                self._begin(beside=True)
        await self.ready()

    def _join(self, number: int) -> None:
        self.number, self._use = number, self._open_users(number)
        fcntl.flock(self._use, fcntl.LOCK_SH)

    def _open_users(self, number: int) -> int:
        return os.open(self.seats.path(number, "users"), os.O_CREAT | os.O_RDWR, 0o600)

    def close(self) -> None:
        """Use the service no longer."""
        if self._use is not None:
            os.close(self._use)
            self._use = None
