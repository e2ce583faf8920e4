"""A Temporal server and workers that belong to a test: to be started, killed and watched."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from temporalio.client import Client
from temporalio.service import RPCError

from quire.temporal.embedded import DYNAMIC_CONFIG, find_binary
from quire.temporal.search_attributes import SEARCH_ATTRIBUTES
from testing.tool import ROOT, Tool
from testing.warm_start import WarmProcess

# A history is called long so soon that a document of 30 pages continues as new.
SOON_CONTINUED = {"limit.historyCount.suggestContinueAsNew": "70"}


def open_to_others(*files: Path) -> dict[str, str]:
    """Settings of workers that take these files, and what lies beside them, from any client."""
    roots = {str(path.absolute().parents[-2]) for path in files}
    return {"ACCEPT_UNSIGNED": "true", "SOURCE_ROOTS": ",".join(sorted(roots))}


class Cluster:
    """A server with a database file, on a port that stays the same when it is started again."""

    def __init__(
        self, folder: Path, config: Mapping[str, str] | None = None, *, ui: bool = False
    ) -> None:
        self.folder = folder
        self._config = {**DYNAMIC_CONFIG, **(config or {})}
        self._port, ui_port = _free_ports(2)
        self._ui = ("--ui-port", str(ui_port)) if ui else ("--headless",)
        self.ui_url = f"http://127.0.0.1:{ui_port}"
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.start_server()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in [*self.workers, self.server]:
            process.kill()
            process.wait()

    def start_server(self) -> None:
        command = [
            find_binary(), "server", "start-dev", *self._ui, "--log-level", "error",
            "--ip", "127.0.0.1", "--port", str(self._port),
            "--db-filename", str(self.folder / "cluster.db"),
            "--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal",
        ]  # fmt: skip
        for name, kind in SEARCH_ATTRIBUTES.items():
            command += ["--search-attribute", f"{name}={kind}"]
        for key, value in self._config.items():
            command += ["--dynamic-config-value", f"{key}={value}"]
        with (self.folder / "server.log").open("ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log)
        self._await_answer()

    def kill_server(self) -> None:
        self.server.send_signal(signal.SIGKILL)
        self.server.wait()

    def start_worker(self, tool: Tool, *arguments: str, **settings: str) -> subprocess.Popen[bytes]:
        """A worker with the tool's settings and store; returns when it serves."""
        log = self.folder / f"worker-{len(self.workers)}.log"
        kind: type[subprocess.Popen[bytes]] = WarmProcess if tool.warm else subprocess.Popen
        with log.open("wb") as file:
            worker = kind(
                [sys.executable, str(ROOT / "worker.py"), *arguments],
                env=tool.environment({"TEMPORAL_ADDRESS": self.address, **settings}),
                stdout=file,
                stderr=file,
            )
        self.workers.append(worker)
        until = time.monotonic() + 60
        while b"worker_started" not in log.read_bytes():
            if worker.poll() is not None or time.monotonic() > until:
                raise RuntimeError(log.read_text())
            time.sleep(0.05)
        return worker

    def _await_answer(self) -> None:
        """Return once the server answers: its port is open a moment before that."""
        until = time.monotonic() + 30
        while not _answers(self.address):
            if time.monotonic() > until:
                raise RuntimeError("the server did not start")
            time.sleep(0.05)


def _answers(address: str) -> bool:
    """Whether the server tells a client about itself. In a thread: the caller may have a loop."""

    async def ask() -> None:
        await Client.connect(address)

    with ThreadPoolExecutor(max_workers=1) as thread:
        try:
            thread.submit(asyncio.run, ask()).result()
        except (RPCError, RuntimeError):
            return False
    return True


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def children_of(pid: int) -> list[int]:
    """All processes below this one."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, open_ = [], [pid]
    while open_:
        open_ += (children := below.get(open_.pop(), []))
        found += children
    return found


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
