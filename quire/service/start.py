"""Starts a service: a process of its own, whose seat is taken before it runs."""

import pickle
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from quire.domain import errors
from quire.service.build import ROOT
from quire.service.note import Note
from quire.settings import Settings
from quire.settings.handed_over import (
    absolute_settings,
    library_variables,
    plain_environment,
)
from quire.temporal.seats import Seat, Seats

PROGRAM = Path(__file__).with_name("__main__.py")
_LAST = 4096


def start_service(settings: Settings, seats: Seats) -> int:
    """Start a service on the first free seat, and say which; under the lock of the seats.

    The seat's lock goes to the service with its handle: from now on the seat is taken for as long
    as that process lives, and whoever looks can read which settings it will serve.
    """
    seat = seats.take()
    try:
        with errors.disk_errors("STATE_DIR", seats.folder):
            Note.starting(settings).write(seats.path(seat.number, "json"))
            _spawn(settings, seats, seat)
    finally:
        seat.release()
    return seat.number


def _spawn(settings: Settings, seats: Seats, seat: Seat) -> None:
    temporary = seats.path(seat.number, "tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700, exist_ok=True)
    own_path = plain_environment().get("PYTHONPATH", "")
    path = f"{ROOT}:{own_path}" if own_path else str(ROOT)
    state = str(seats.folder.parent)
    with seats.path(seat.number, "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM), str(seat.handle), str(seat.number), state],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=[seat.handle],
            # Neither the terminal nor the folder of who started it is its own.
            start_new_session=True,
            cwd=seats.folder,
            env={
                **library_variables(settings),
                **plain_environment(),
                "PYTHONPATH": path,
                "TMPDIR": str(temporary),
            },
        )
    pipe = process.stdin
    assert pipe is not None, "it was asked for"
    # Never by a file. What goes wrong is in the note, or in the log.
    with suppress(BrokenPipeError), pipe:
        pipe.write(pickle.dumps(absolute_settings(settings)))


def last_line(log: Path) -> str:
    """The last line of a log."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _LAST))
        lines = file.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""
    return ""
