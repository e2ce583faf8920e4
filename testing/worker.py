"""A worker as a process of its own, with an embedded server, and the tool as its client."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from testing.embedded import server_of
from testing.tool import ROOT, Tool
from testing.warm_start import WarmProcess


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as response:
        text: str = response.read().decode()
        return text


class RunningWorker:
    """Reads the worker's log all the time, so that the pipe never fills."""

    def __init__(self, tool: Tool, **settings: str) -> None:
        self.tool = tool
        self.lines: list[str] = []
        kind: type[subprocess.Popen[str]] = WarmProcess if tool.warm else subprocess.Popen
        self._process = kind(
            [sys.executable, str(ROOT / "worker.py")],
            env=tool.environment(settings),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,))
        self._reader.start()

    def _read(self, stream: IO[str]) -> None:
        self.lines.extend(iter(stream.readline, ""))

    def wait_for(self, word: str, timeout: float = 60.0) -> None:
        end = time.monotonic() + timeout
        while not any(word in line for line in self.lines):
            assert time.monotonic() < end, f"no {word}: " + "".join(self.lines)
            assert self._process.poll() is None, "".join(self.lines)
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ui_url(self) -> str:
        return server_of(self.tool).ui_url

    def client(self, folder: Path) -> Tool:
        """The tool on another machine, so to speak: same cluster, same store."""
        client = Tool(
            folder,
            STORE_URL=str(self.tool.state / "store"),
            RESULTS_URL=str(self.tool.state / "results"),
            TEMPORAL_ADDRESS=server_of(self.tool).address,
        )
        return client.warmed() if self.tool.warm else client

    def kill(self) -> None:
        os.kill(self._process.pid, signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        finally:
            self._process.kill()
            self._end()

    def _end(self) -> None:
        self._process.wait()
        self._reader.join(5)


@contextmanager
def running_worker(tool: Tool, **settings: str) -> Iterator[RunningWorker]:
    worker = RunningWorker(tool, **settings)
    try:
        worker.wait_for("worker_started")
        yield worker
    finally:
        worker.stop()
