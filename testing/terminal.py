"""A program in a terminal of its own, which can be closed on it."""

import contextlib
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path


class Terminal:
    """A real pseudo-terminal: what is written can be read, and its end is a hang-up."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env={**environment, "TERM": "xterm-256color"},
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(follower)
        os.set_blocking(self._leader, False)
        self.written = b""

    def shows(self, word: str) -> bool:
        """Whether the program has written this so far."""
        with contextlib.suppress(BlockingIOError):
            self.written += os.read(self._leader, 65536)
        return word.encode() in self.written

    def close(self) -> None:
        """Close it as a person does who closes the window."""
        os.close(self._leader)


def _take_terminal() -> None:
    """In the new process: SIGHUP goes to the session whose controlling terminal this is.
    A test run that was begun with `nohup` has it ignored."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
