"""The embedded Temporal server: the real one, one for each state folder.

Commands that run at once share it. Each holds a shared lock while it needs the server; the last
one out stops it. Locks end with their owner, so a killed command leaves nothing behind but a
server that the next command finds and uses.
"""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from quire.domain import errors
from quire.domain.errors import QuireError
from quire.temporal.search_attributes import SEARCH_ATTRIBUTES

READY_WITHIN_S = 30.0
# Below this, a server is not even started: one without room leaves half a database behind.
ROOM = 1024 * 1024
LOOK_EVERY_S = 0.5
DATABASE = "temporal.db"
# After two failures of its workflow task a document is marked, and the watch finds it.
DYNAMIC_CONFIG = {"system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute": "2"}


def has_database(state_dir: Path) -> bool:
    """Whether the server of this state folder was ever started."""
    return (state_dir.expanduser().absolute() / DATABASE).exists()


@dataclass(frozen=True)
class ServerInfo:
    """Where a running server is."""

    pid: int
    port: int
    ui_port: int

    @property
    def address(self) -> str:
        """Where clients and workers connect."""
        return f"127.0.0.1:{self.port}"

    @property
    def ui_url(self) -> str:
        """Where its Web UI is."""
        return f"http://127.0.0.1:{self.ui_port}"


class EmbeddedServer:
    """Starts the server or joins the one that runs; brings it back if it dies."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir.expanduser().absolute()
        self._note = self._folder / "server.json"
        self._users: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> ServerInfo:
        """The running server; started when there is none."""
        with errors.disk_errors("STATE_DIR", self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            info = await asyncio.to_thread(self._ensure)
        self._keeper = asyncio.create_task(self._keep(info))
        return info

    def stop_if_last(self) -> bool:
        """Stop the server unless another command needs it; True when it was stopped.

        It is killed outright: its database is in WAL mode, made to survive exactly that, and a
        person waits for the prompt while an orderly shutdown takes a second and a half.
        """
        if self._users is None:
            return False
        with self._locked():
            try:
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # A failed upgrade gives up the shared lock too: take it again.
                fcntl.flock(self._users, fcntl.LOCK_SH)
                return False
            self._stop_keeping()
            self._kill()
        return True

    def leave(self) -> None:
        """Need the server no longer; the last one to leave stops it."""
        if not self.stop_if_last() and self._users is not None:
            self._stop_keeping()

    def _stop_keeping(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
        if self._users is not None:
            os.close(self._users)
            self._users = None

    # --- finding and starting ----------------------------------------------------------------

    def _ensure(self) -> ServerInfo:
        with self._locked():
            if self._users is None:
                self._users = os.open(self._folder / "users.lock", os.O_CREAT | os.O_RDWR, 0o600)
                fcntl.flock(self._users, fcntl.LOCK_SH)
            known = self._read_note()
            if known is not None and self._is_alive(known):
                return known
            return self._spawn(known)

    def _spawn(self, known: ServerInfo | None) -> ServerInfo:
        """On the ports of a server that died, so that its clients find the new one."""
        binary = find_binary()
        check_room(self._folder)
        ports = (known.port, known.ui_port) if known else _free_ports(2)
        if known and not all(_is_free(port) for port in ports):
            ports = _free_ports(2)
        command = [
            binary, "server", "start-dev",
            "--db-filename", str(self._folder / DATABASE),
            "--sqlite-pragma", "journal_mode=wal",
            "--sqlite-pragma", "synchronous=normal",
            "--ip", "127.0.0.1", "--port", str(ports[0]), "--ui-port", str(ports[1]),
            "--log-level", "error",
        ]  # fmt: skip
        for name, kind in SEARCH_ATTRIBUTES.items():
            command += ["--search-attribute", f"{name}={kind}"]
        for name, value in DYNAMIC_CONFIG.items():
            command += ["--dynamic-config-value", f"{name}={value}"]
        is_new = not (self._folder / "temporal.db").exists()
        with (self._folder / "server.log").open("wb") as log:
            # A session of its own: Ctrl-C is for the command, not for the server it shares.
            self._child = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        info = ServerInfo(self._child.pid, *ports)
        try:
            self._await_ready(info)
            self._write_note(info)
        except (QuireError, OSError):
            # Unknown to the next command, it would be in the way of the next server.
            self._child.kill()
            self._child.wait()
            if is_new:
                # Without all of its tables no server would ever start on it.
                for path in self._folder.glob("temporal.db*"):
                    path.unlink(missing_ok=True)
            check_room(self._folder)
            raise
        return info

    def _write_note(self, info: ServerInfo) -> None:
        part = self._note.with_suffix(".part")
        try:
            part.write_text(json.dumps(asdict(info)))
            part.replace(self._note)
        finally:
            part.unlink(missing_ok=True)

    def _await_ready(self, info: ServerInfo) -> None:
        end = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < end:
            if self._child is not None and self._child.poll() is not None:
                break
            if _answers(info.port):
                return
            time.sleep(0.02)
        raise errors.embedded_server_failed(self._folder / "server.log")

    def _is_alive(self, info: ServerInfo) -> bool:
        if self._child is not None and self._child.pid == info.pid:
            return self._child.poll() is None
        # The process id alone may have been given to another program since.
        return _runs(info.pid, str(self._folder / DATABASE)) and _answers(info.port)

    async def _keep(self, info: ServerInfo) -> None:
        """Bring the server back when it dies while we need it."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if not await asyncio.to_thread(self._is_alive, info):
                # While there is no room for it, try again: its documents wait for it.
                with suppress(QuireError, OSError):
                    info = await asyncio.to_thread(self._ensure)

    def _kill(self) -> None:
        info = self._read_note()
        self._note.unlink(missing_ok=True)
        if info is None or not _runs(info.pid, str(self._folder / DATABASE)):
            return
        with suppress(ProcessLookupError):
            os.kill(info.pid, signal.SIGKILL)
        if self._child is not None and self._child.pid == info.pid:
            self._child.wait()

    def _read_note(self) -> ServerInfo | None:
        try:
            return ServerInfo(**json.loads(self._note.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        handle = os.open(self._folder / "server.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def check_room(folder: Path) -> None:
    """Raise `DiskFull` when the folder cannot take another megabyte."""
    with errors.disk_errors("STATE_DIR", folder), suppress(FileNotFoundError):
        handle, name = tempfile.mkstemp(dir=folder, prefix=".room-")
        try:
            left = memoryview(bytes(ROOM))
            while left:
                left = left[os.write(handle, left) :]
        finally:
            os.close(handle)
            Path(name).unlink()


def find_binary() -> str:
    """The `temporal` binary: beside this interpreter first, then on the path."""
    beside = Path(sys.executable).with_name("temporal")
    found = str(beside) if beside.exists() else shutil.which("temporal")
    if found is None:
        raise errors.embedded_server_missing()
    return found


def _runs(pid: int, marker: str) -> bool:
    """Is this process alive and the server of this database?"""
    try:
        return marker in Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except FileNotFoundError:
        pass
    except OSError:
        return False
    if Path("/proc/self").exists():
        return False
    with suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
        return True
    return False


def _is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _free_ports(count: int) -> tuple[int, ...]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return tuple(probe.getsockname()[1] for probe in probes)
    finally:
        for probe in probes:
            probe.close()
