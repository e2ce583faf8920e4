"""Programs of this project as processes that need not import everything first.

Most of a short command's time goes into imports: 2 of its 3.5 seconds of CPU. A process that has
imported them once, and done nothing else, forks the commands of a test run. Each has its own
arguments, environment, session and exit code, as if it had been started from nothing; tests that
are about the start or the end of the interpreter start it from nothing (`Tool(..., warm=False)`).
"""

import atexit
import functools
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, AnyStr

# Slow to import and needed by most commands; none of them does anything else when imported.
MODULES = (
    "quire.cli.main", "quire.cli.worker", "quire.app.workers", "workflows.document.workflow",
    "openai", "openai.resources.chat", "anthropic", "anthropic.resources.messages",
    "boto3", "genai_prices", "temporalio.worker",
)  # fmt: skip
LARGEST_REQUEST = 200_000


class WarmProcess(subprocess.Popen[AnyStr]):
    """A `Popen` whose process is forked by the warm one; for Python programs by their path."""

    def _execute_child(
        self, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any,
        cwd: Any, env: Any, startupinfo: Any, creationflags: Any, shell: Any,
        p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int, errread: int, errwrite: int,
        *_: Any,
    ) -> None:  # fmt: skip
        """Called by `Popen` once it has made the pipes."""
        sys.audit("subprocess.Popen", executable or args[0], args, cwd, env)
        request = {
            "arguments": [*map(str, args[1:])],
            "environment": env,
            "folder": str(Path.cwd()),
        }
        streams = [c2pwrite if c2pwrite >= 0 else 1, errwrite if errwrite >= 0 else 2]
        self.pid, self._end = _warm().fork(request, streams)
        self._child_created = True
        for pipe in {c2pwrite, errwrite} - {-1}:
            # Files that the caller opened stay the caller's.
            if pipe in (c2pwrite if c2pread >= 0 else -1, errwrite if errread >= 0 else -1):
                os.close(pipe)

    def _internal_poll(self, _deadstate: Any = None, *_: Any) -> int | None:
        if self.returncode is None:
            self._note_end(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None and not self._note_end(timeout):
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return int(self.returncode)

    def _note_end(self, timeout: float | None) -> bool:
        """Whether it has ended within the time; the warm process writes how."""
        if not select.select([self._end], [], [], timeout)[0]:
            return False
        # Left there for other threads that wait. Without a status the warm process itself has died.
        status = self._end.recv(16, socket.MSG_PEEK)
        self.returncode = os.waitstatus_to_exitcode(int(status)) if status else -signal.SIGKILL
        return True


class _Warm:
    """This side of the warm process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "testing.warm_start", str(theirs.fileno())],
            cwd=Path(__file__).resolve().parents[1],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        atexit.register(self.stop)

    def fork(self, request: dict[str, Any], streams: list[int]) -> tuple[int, socket.socket]:
        """The process id of a new process, and where its end will be written."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with self._lock, theirs:
            socket.send_fds(
                self._control, [json.dumps(request).encode()], [*streams, theirs.fileno()]
            )
            answer = self._control.recv(16)
        if not answer:
            raise RuntimeError("the warm process has ended")
        return int(answer), ours

    def stop(self) -> None:
        """End it; a test run must not wait for imports that nothing needs any more."""
        self._control.close()
        self._process.kill()
        self._process.wait()


@functools.cache
def _warm() -> _Warm:
    return _Warm()


# --- the warm process --------------------------------------------------------------------------


def serve(control: socket.socket) -> None:
    """Fork a process for each request, and report the end of each."""
    ends: dict[int, socket.socket] = {}
    # A signal that arrives between two looks is still readable here.
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # A terminal's Ctrl-C is for the test run, which closes the connection.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([control.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report_ends(ends)
        if control.fileno() in ready:
            body, handles, _, _ = socket.recv_fds(control, LARGEST_REQUEST, 3)
            if not body:
                return
            out, err, end = handles
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                for handle in (woken, wake, end, control.detach()):
                    os.close(handle)
                for other in ends.values():
                    other.close()
                _become(json.loads(body), out, err)
                return
            os.close(out)
            os.close(err)
            ends[pid] = socket.socket(fileno=end)
            control.send(str(pid).encode())


def _report_ends(ends: dict[int, socket.socket]) -> None:
    while ends:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with ends.pop(pid) as end:
            end.send(str(status).encode())


def _become(request: dict[str, Any], out: int, err: int) -> None:
    """Run a program in this process, which was forked for it."""
    os.setsid()
    for source, target in ((out, 1), (err, 2)):
        os.dup2(source, target)
        os.close(source)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A test run that was begun with `nohup` has it ignored.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None  # it is kept once it was asked for, and TMPDIR may differ
    sys.argv = request["arguments"]
    runpy.run_path(sys.argv[0], run_name="__main__")


def main() -> None:
    """Import everything; then serve while there is a test run."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in MODULES:
        importlib.import_module(name)
    threads = len([*Path("/proc/self/task").iterdir()])
    assert threads == 1, f"{threads} threads after imports: a fork would lose them"
    serve(control)


if __name__ == "__main__":
    main()
