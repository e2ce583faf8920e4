"""Where documents are measured: a Temporal server, one long-running worker, and a client.

The server has the pragmas of the embedded one. The worker has read a small document before the
first that counts, so its SDKs are imported and its MuPDF children run: what a document costs on
a machine that is in service, not what starting costs.
"""

import asyncio
import math
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from bench.usage import LOOK_EVERY_S, Cpu, PeakTree, cpu_of, machine_s
from client import connect
from domain.carrying import DocumentRun
from domain.contracts import WORKFLOW_QUEUE, DocumentResult, workflow_id
from settings import Settings
from tests import pdfs
from tests.cluster import Cluster
from tests.tool import Tool
from tests.vendor.standin import Addresses
from workflows.document import DocumentWorkflow

DEADLINE_S = 3000.0
# A worker is calm when it takes less than this share of a core.
CALM = 0.1
SETTLED_WITHIN_S = 15.0


def settings_for(slots: int) -> dict[str, str]:
    """One model with so many slots, as the bare script has, and always a page waiting for each."""
    return {
        "WHEN_BUSY": "wait",
        "MAX_INFLIGHT_PER_MODEL": str(slots),
        "PAGE_WINDOW": str(min(200, max(32, 2 * slots))),
    }


@dataclass(frozen=True)
class History:
    """What the server keeps of a document, over all its runs."""

    runs: int
    events: int
    bytes: int
    seconds: float
    started: float


@dataclass(frozen=True)
class Reading:
    """One document as it was read on the stage."""

    seconds: float
    result: DocumentResult
    history: History


@dataclass(frozen=True)
class Cost:
    """What the worker and the server took meanwhile, and the machine as a whole."""

    worker: Cpu
    server: Cpu
    peak_bytes: int
    # How many cores of the machine were busy, on the average, with whatever it was.
    busy_cores: float


class Meter:
    """`with stage.meter() as meter: ...`; then `meter.cost`."""

    def __init__(self, worker: int, server: int) -> None:
        self._pids = (worker, server)
        self._peak = PeakTree(worker)

    def __enter__(self) -> Self:
        self._before = [cpu_of(pid) for pid in self._pids]
        self._started = (time.monotonic(), machine_s())
        self._peak.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._peak.__exit__(kind, error, trace)
        spent = [
            cpu_of(pid).since(before) for pid, before in zip(self._pids, self._before, strict=True)
        ]
        started, machine = self._started
        busy = (machine_s() - machine) / (time.monotonic() - started)
        self.cost = Cost(spent[0], spent[1], self._peak.bytes, busy)


class Stage:
    """`async with Stage(folder, vendor, slots) as stage: await stage.read(source, job)`."""

    def __init__(self, folder: Path, vendor: Addresses, slots: int, **settings: str) -> None:
        self.folder = folder
        self._cluster = Cluster(folder)
        tool = Tool(folder / "state", vendor, **settings_for(slots), **settings)
        self._tool = tool
        self._slots = slots

    async def __aenter__(self) -> Self:
        self._cluster.__enter__()
        try:
            self._worker = self._cluster.start_worker(self._tool)
            self._client: Client = await connect(Settings(), self._cluster.address)
            small = pdfs.mixed_pdf(self.folder / "warm-up.pdf", 0, max(8, self._slots))
            await self.read(small, "warm-up")
            await self._settled()
        except BaseException:
            self._cluster.__exit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cluster.__exit__(kind, error, trace)

    async def _settled(self) -> None:
        """Until the worker has nothing left to do of its own start."""
        until = time.monotonic() + SETTLED_WITHIN_S
        while time.monotonic() < until:
            before = cpu_of(self._worker.pid).total
            await asyncio.sleep(LOOK_EVERY_S)
            if cpu_of(self._worker.pid).total - before < CALM * LOOK_EVERY_S:
                return

    def meter(self) -> Meter:
        return Meter(self._worker.pid, self._cluster.server.pid)

    async def read(self, source: Path, job: str) -> Reading:
        """One document from the request to its result; the time is the workflow's own."""
        result = await self._client.execute_workflow(
            DocumentWorkflow.run,
            DocumentRun(
                job_id=job, source=str(source), source_name=source.name, deadline_s=DEADLINE_S
            ),
            id=workflow_id(job),
            task_queue=WORKFLOW_QUEUE,
        )
        history = await self._history(job)
        return Reading(history.seconds, result, history)

    async def _history(self, job: str) -> History:
        """Of the last run and of those before it; a run says which one it continues."""
        events: list[HistoryEvent] = []
        runs, run = 0, None
        while run != "":
            handle = self._client.get_workflow_handle(workflow_id(job), run_id=run)
            found = list((await handle.fetch_history()).events)
            events = [*found, *events]
            runs += 1
            run = found[0].workflow_execution_started_event_attributes.continued_execution_run_id
        started, ended = (_seconds(events[end]) for end in (0, -1))
        weight = sum(event.ByteSize() for event in events)
        return History(runs, len(events), weight, ended - started, started)


def _seconds(event: HistoryEvent) -> float:
    return event.event_time.ToNanoseconds() / 1e9


def ideal_seconds(pages: int, slots: int, latency: float) -> float:
    """When every slot is always busy with the vendor and nothing else takes time."""
    return math.ceil(pages / slots) * latency


def distinct(source: Path, target: Path) -> Path:
    """The same document with other bytes, so that nothing of it is known from an earlier run."""
    target.write_bytes(source.read_bytes() + f"\n% {target.name} {time.time_ns()}\n".encode())
    return target
