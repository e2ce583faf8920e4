"""The fork server from which children are forked, and the folder of its socket.

multiprocessing starts the server and its resource tracker as `python -c`, which looks for modules
in the current folder first: a `signal.py` among someone's downloads would be run. So both are
started with `-P`, and all children import from where this program imports.
"""

import contextlib
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import forkserver, popen_forkserver, process, resource_tracker, spawn, util
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

_PRELOAD = ["pymupdf", "PIL.Image", "quire.pdf.child_process"]
# A socket's address holds 107 bytes, its own name included; TMPDIR may be longer.
_ROOM = 70
_SHORT = "/tmp"  # noqa: S108  (only a new folder of our own is used in it)
_ROOT = str(Path(__file__).resolve().parents[2])
_CURRENT_FOLDER = ("", ".")
# The descriptor: Python's own stream, and those of the children, follow it.
_SILENT = "import os; os.dup2(os.open(os.devnull, os.O_WRONLY), 2)"
_launching = threading.Lock()
_users: set[int] = set()


def fork_context(user: object) -> ForkServerContext:
    """The context that starts children for this user.

    Forking from a clean server is safe beside the threads of the SDK, and three times as quick as
    spawning an interpreter, which would import MuPDF each time.
    """
    found = _LeanContext()
    found.set_forkserver_preload(_PRELOAD)
    with _launching, _safe_start():
        _users.add(id(user))
        _make_folder()
        # Now, for the first lock of a pool would start the tracker without our care.
        resource_tracker.ensure_running()
    return found


def release(user: object) -> None:
    """End the server and remove its folder once its last user is gone.

    multiprocessing does that when the interpreter ends; our programs end by `os._exit` instead.
    """
    with _launching:
        if id(user) not in _users:
            return
        _users.discard(id(user))
        if not _users:
            with contextlib.suppress(OSError):
                forkserver._forkserver._stop()  # type: ignore[attr-defined]
            shutil.rmtree(_config().pop("tempdir", ""), ignore_errors=True)


def _make_folder() -> None:
    if not _config().get("tempdir"):
        usual = tempfile.gettempdir()
        place = usual if len(usual) <= _ROOM else _SHORT
        _config()["tempdir"] = tempfile.mkdtemp(prefix="quire-", dir=place)


def _config() -> dict[str, Any]:
    """Where multiprocessing keeps the folder; there is no public way to choose it."""
    found: dict[str, Any] = process.current_process()._config  # type: ignore[attr-defined]
    return found


class _LeanProcess(ForkServerProcess):
    """A process that does not run its parent's main script again at its start.

    multiprocessing would import `starter.py` or `worker.py`, and Temporal with them, into
    every child: seconds of start-up and a hundred megabytes for code that never runs there.
    """

    @staticmethod
    def _Popen(process_obj: Any) -> popen_forkserver.Popen:  # noqa: N802
        with _launching, _safe_start():
            return popen_forkserver.Popen(process_obj)


class _LeanContext(ForkServerContext):
    Process = _LeanProcess


@contextlib.contextmanager
def _safe_start() -> Iterator[None]:
    """While this lasts, multiprocessing starts processes our way; there is no public hook."""
    # A closed terminal is the program's affair: what these processes do is still wanted while it
    # leaves, and a page whose child died would count as damaged. They inherit what is blocked.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    prepare, spawnv = spawn.get_preparation_data, util.spawnv_passfds
    spawn.get_preparation_data = _lean(prepare)  # type: ignore[assignment]
    util.spawnv_passfds = _outside_current_folder(spawnv)
    try:
        yield
    finally:
        spawn.get_preparation_data = prepare
        util.spawnv_passfds = spawnv
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _lean(original: Callable[[str], Any]) -> Callable[[str], dict[str, Any]]:
    """What a child learns of its parent, without the main script and the current folder."""

    def prepare(name: str) -> dict[str, Any]:
        data = original(name)
        kept = {key: value for key, value in data.items() if not key.startswith("init_main")}
        return kept | {"sys_path": import_path(sys.path)}

    return prepare


def _outside_current_folder(original: Callable[..., int]) -> Callable[..., int]:
    """Start `python -c` with `-P`, with our own path instead of the current folder, and silent: a
    child that is being started while a program leaves would complain after its last line."""

    def spawnv(path: bytes, args: Sequence[Any], passed: Sequence[int]) -> int:
        code = args.index("-c") + 1
        ours = f"import sys; sys.path[:] = {import_path(sys.path)!r}; {_SILENT}; {args[code]}"
        return original(path, [*args[: code - 1], "-P", "-c", ours, *args[code + 1 :]], passed)

    return spawnv


def import_path(path: Sequence[str]) -> list[str]:
    """The path without the current folder, and with the folder that this package is in.

    That folder takes the place of the current one: a checkout is run from its root, and must not
    get the modules of an installed version.
    """
    kept = [entry for entry in path if entry not in _CURRENT_FOLDER]
    if _ROOT in kept:
        return kept
    place = next((i for i, entry in enumerate(path) if entry in _CURRENT_FOLDER), len(kept))
    return [*kept[:place], _ROOT, *kept[place:]]
