"""The fork server from which children are forked, and the folder of its socket."""

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Callable
from multiprocessing import forkserver, popen_forkserver, process, spawn
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

_PRELOAD = ["pymupdf", "PIL.Image", "quire.pdf.child_process"]
# A socket's address holds 107 bytes, its own name included; TMPDIR may be longer.
_ROOM = 70
_SHORT = "/tmp"  # noqa: S108  (only a new folder of our own is used in it)
_launching = threading.Lock()
_users: set[int] = set()


def fork_context(user: object) -> ForkServerContext:
    """The context that starts children for this user.

    Forking from a clean server is safe beside the threads of the SDK, and three times as quick as
    spawning an interpreter, which would import MuPDF each time.
    """
    with _launching:
        _users.add(id(user))
        _make_folder()
    found = _LeanContext()
    found.set_forkserver_preload(_PRELOAD)
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
