"""A command in a real terminal of a given width, and what it wrote there."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

from testing.tool import ROOT, Tool

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


# When these words were written: do this to the command, or to the world.
Step = tuple[str, Callable[["subprocess.Popen[bytes]"], None]]


def run_in_terminal(
    tool: Tool,
    columns: int,
    *arguments: str,
    timeout: float = 90.0,
    steps: tuple[Step, ...] = (),
    exit_code: int = 0,
) -> str:
    """Everything the command wrote, control sequences and all."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = tool.environment({"TERM": "xterm-256color"})
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "starter.py"), *arguments],
        env=environment,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    written, end = b"", time.monotonic() + timeout
    while time.monotonic() < end:
        if select.select([leader], [], [], 0.5)[0]:
            try:
                written += os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if steps and steps[0][0].encode() in written:
                steps[0][1](process)
                steps = steps[1:]
        elif process.poll() is not None:
            break
    process.kill()
    assert process.wait() == exit_code, written.decode()
    os.close(leader)
    return written.decode()


def lines_of(recorded: str) -> list[str]:
    """The lines that were drawn, without colours and cursor movements."""
    return [line.split("\r")[-1] for line in _CONTROL.sub("", recorded).split("\r\n")]
