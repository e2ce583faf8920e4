"""The clean process that children are forked from, and the folder of its socket."""

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Callable
from multiprocessing import forkserver, popen_forkserver, process, spawn
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

_PRELOAD = ["pymupdf", "PIL.Image", "quire.pdf.child"]
# A socket's address has room for 107 bytes, its own name included; TMPDIR may be deeper.
_ROOM = 70
_SHORT = "/tmp"  # noqa: S108  (a folder of our own is made in it)
_launching = threading.Lock()
_users: set[int] = set()


def context(user: object) -> ForkServerContext:
    """Forked from a clean server process: safe beside the threads of the SDK, and three times
    as quick as a spawned interpreter, which imports MuPDF anew each time."""
    with _launching:
        _users.add(id(user))
        _make_folder()
    found = _LeanContext()
    found.set_forkserver_preload(_PRELOAD)
    return found


def done_with(user: object) -> None:
    """After the last user: end the server and remove its folder. multiprocessing would do that
    when the interpreter ends, but ours never does: it leaves by `os._exit`."""
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
    """Where multiprocessing keeps the folder; there is no other way to choose it."""
    found: dict[str, Any] = process.current_process()._config  # type: ignore[attr-defined]
    return found


class _LeanProcess(ForkServerProcess):
    """A process that does not begin by running its parent's main script again.

    multiprocessing would import `starter.py` or `worker.py`, and Temporal with them, into
    every child: seconds of start-up and a hundred megabytes for code that never runs there.
    """

    @staticmethod
    def _Popen(process_obj: Any) -> popen_forkserver.Popen:  # noqa: N802
        with _launching:
            original: Callable[[str], dict[str, Any]] = spawn.get_preparation_data
            spawn.get_preparation_data = _lean(original)  # type: ignore[assignment]
            try:
                return popen_forkserver.Popen(process_obj)
            finally:
                spawn.get_preparation_data = original  # type: ignore[assignment]


def _lean(original: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    def prepare(name: str) -> dict[str, Any]:
        data = original(name)
        return {key: value for key, value in data.items() if not key.startswith("init_main")}

    return prepare


class _LeanContext(ForkServerContext):
    Process = _LeanProcess
