"""Seats of a state folder: who serves its documents now, each under settings and queues of its own.

A seat is a lock, so it ends with its owner however that ends, and no process id has to be trusted.
The first seat has the usual queues. A second one is needed only while others serve the folder under
different settings. What dies on its seat leaves documents there, which others take over.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from quire.contracts.names import seat_queue
from quire.domain import errors

FOLDER = "service"
# Whoever holds the lock starts a service at most, which is then awaited without it.
LOCK_WITHIN_S = 60.0
LOOK_EVERY_S = 0.01
# Someone who only looks whether a seat is taken holds it for a moment.
TRIES = 5


@dataclass
class Seat:
    """A seat that this process holds until it ends or releases it."""

    number: int
    handle: int

    @property
    def queue(self) -> str:
        """The workflow queue of the seat."""
        return seat_queue(self.number)

    def release(self) -> None:
        """Leave the seat to others."""
        with suppress(OSError):
            os.close(self.handle)


class Seats:
    """The seats of one state folder."""

    def __init__(self, state_dir: Path) -> None:
        self._state = state_dir.expanduser().absolute()
        self.folder = self._state / FOLDER

    def make_folder(self) -> None:
        """Make the state folder and the one of the seats, for this user alone."""
        with errors.disk_errors("STATE_DIR", self._state):
            self._state.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.folder.mkdir(exist_ok=True, mode=0o700)

    def path(self, number: int, kind: str) -> Path:
        """A file of a seat."""
        return self.folder / f"seat-{number}.{kind}"

    @contextmanager
    def locked(self, within_s: float = LOCK_WITHIN_S) -> Iterator[None]:
        """Seats are taken and left by one process at a time."""
        handle = self._open("start.lock")
        try:
            _lock_within(handle, within_s, self.folder)
            yield
        finally:
            os.close(handle)

    def take(self) -> Seat:
        """The first free seat; under the lock."""
        number = 1
        while True:
            if seat := self.take_one(number):
                return seat
            number += 1

    def take_one(self, number: int) -> Seat | None:
        """This seat, unless it is taken."""
        handle = self._open(f"seat-{number}.lock")
        for attempt in range(TRIES):
            if try_lock(handle):
                # What its last owner said of itself is no longer true.
                self.path(number, "json").unlink(missing_ok=True)
                return Seat(number, handle)
            time.sleep(LOOK_EVERY_S if attempt else 0.0)
        os.close(handle)
        return None

    def known(self) -> list[int]:
        """Every seat that was ever taken."""
        found = (path.stem.removeprefix("seat-") for path in self.folder.glob("seat-*.lock"))
        return sorted(int(number) for number in found if number.isdigit())

    def is_taken(self, number: int) -> bool:
        """Whether someone holds the seat."""
        try:
            handle = os.open(self.path(number, "lock"), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not try_lock(handle, fcntl.LOCK_SH)
        finally:
            os.close(handle)

    def _open(self, name: str) -> int:
        with errors.disk_errors("STATE_DIR", self._state):
            return os.open(self.folder / name, os.O_CREAT | os.O_RDWR, 0o600)


def try_lock(handle: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Whether the file could be locked at once."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_within(handle: int, seconds: float, folder: Path) -> None:
    end = time.monotonic() + seconds
    while not try_lock(handle):
        if time.monotonic() > end:
            raise errors.state_folder_locked(folder)
        time.sleep(LOOK_EVERY_S)
