"""Where documents are measured: a Temporal server, long-running workers, and a client.

The server has the pragmas of the embedded one. The workers (one, where nothing else is asked for)
have read a small document before the first that counts, so their SDKs are imported and their MuPDF
children run: what a document costs on a machine that is in service, not what starting costs.
"""

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from bench.usage import (
    LOOK_EVERY_S,
    Cpu,
    PeakTree,
    cpu_of,
    forget_peak,
    machine_s,
    memory_of,
    own_peak,
)
from quire.contracts.carried import DocumentRun
from quire.contracts.names import WORKFLOW_QUEUE, workflow_id
from quire.contracts.results import DocumentResult
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.cluster import Cluster, open_to_others
from testing.tool import ROOT, Tool
from testing.vendor.process import StandInProcess
from workflows.document.workflow import DocumentWorkflow

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
    # Why tasks of the workflow failed; each was done again.
    failed_tasks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """One document as it was read on the stage."""

    seconds: float
    result: DocumentResult
    history: History


@dataclass(frozen=True)
class Cost:
    """What worker, server and vendor took meanwhile, and the machine as a whole.

    Memory is None where it cannot be read. `peak_bytes` is of the worker with its children,
    looked at now and then (PSS); `own_peak_bytes` is the worker's alone, by the kernel (RSS).
    """

    worker: Cpu
    server: Cpu
    vendor: Cpu
    peak_bytes: int | None
    own_peak_bytes: int | None
    # At the end: it hardly gives any back.
    server_bytes: int | None
    # How many cores of the machine were busy, on the average, with whatever it was.
    busy_cores: float

    @property
    def cpu_s(self) -> float:
        return self.worker.total + self.server.total + self.vendor.total


class Meter:
    """`with stage.meter() as meter: ...`; then `meter.cost`."""

    def __init__(self, worker: int, server: int, vendor: int, every_s: float) -> None:
        self._pids = (worker, server, vendor)
        self._peak = PeakTree(worker, every_s)

    def __enter__(self) -> Self:
        self._anew = forget_peak(self._pids[0])
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
        started, machine = self._started
        busy = (machine_s() - machine) / (time.monotonic() - started)
        worker, server, vendor = (
            cpu_of(pid).since(before) for pid, before in zip(self._pids, self._before, strict=True)
        )
        self._peak.__exit__(kind, error, trace)
        self.cost = Cost(
            worker=worker,
            server=server,
            vendor=vendor,
            peak_bytes=self._peak.bytes,
            own_peak_bytes=own_peak(self._pids[0]) if self._anew else None,
            server_bytes=memory_of(self._pids[1]),
            busy_cores=busy,
        )


class Stage:
    """`async with Stage(folder, vendor, slots) as stage: await stage.read(source, job)`."""

    def __init__(
        self,
        folder: Path,
        vendor: StandInProcess,
        slots: int,
        workers: int = 1,
        /,
        **settings: str,
    ) -> None:
        self.folder = folder
        self._vendor = vendor
        self._cluster = Cluster(folder)
        self._tool = Tool(folder / "state", vendor, **{**settings_for(slots), **settings})
        self._slots = slots
        self._workers = workers

    async def __aenter__(self) -> Self:
        self._cluster.__enter__()
        try:
            sources = open_to_others(self.folder / "any", ROOT)
            for _ in range(self._workers):
                self._worker = self._cluster.start_worker(self._tool, **sources)
            self._client: Client = await connect(Settings(), self._cluster.address)
            all_slots = self._workers * self._slots
            small = pdfs.mixed_pdf(self.folder / "warm-up.pdf", 0, max(8, all_slots))
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

    def meter(self, every_s: float = LOOK_EVERY_S) -> Meter:
        return Meter(self._worker.pid, self._cluster.server.pid, self._vendor.pid, every_s)

    async def read(self, source: Path, job: str) -> Reading:
        """One document from the request to its result; the time is the workflow's own."""
        return await self._reading(job, await self._run(source, job))

    async def read_metered(
        self, sources: Mapping[str, Path], every_s: float = LOOK_EVERY_S
    ) -> tuple[list[Reading], Cost]:
        """Documents by job, all at once, and their cost. The meter stops with the last result:
        what comes after, taking the histories from the server, is the measuring's own work."""
        with self.meter(every_s) as meter:
            results = await asyncio.gather(*(self._run(src, job) for job, src in sources.items()))
        readings = [
            await self._reading(job, result) for job, result in zip(sources, results, strict=True)
        ]
        return readings, meter.cost

    async def _run(self, source: Path, job: str) -> DocumentResult:
        return await self._client.execute_workflow(
            DocumentWorkflow.run,
            DocumentRun(
                job_id=job, source=str(source), source_name=source.name, deadline_s=DEADLINE_S
            ),
            id=workflow_id(job),
            task_queue=WORKFLOW_QUEUE,
        )

    async def _reading(self, job: str, result: DocumentResult) -> Reading:
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
        failed = [e.workflow_task_failed_event_attributes for e in events if _is_failed_task(e)]
        why = tuple(task.failure.message for task in failed)
        return History(runs, len(events), weight, ended - started, started, why)


def _is_failed_task(event: HistoryEvent) -> bool:
    return event.HasField("workflow_task_failed_event_attributes")


def _seconds(event: HistoryEvent) -> float:
    return event.event_time.ToNanoseconds() / 1e9


def ideal_seconds(pages: int, slots: int, latency: float) -> float:
    """When every slot is always busy with the vendor and nothing else takes time."""
    return math.ceil(pages / slots) * latency


def distinct(source: Path, target: Path) -> Path:
    """The same document with other bytes, so that nothing of it is known from an earlier run."""
    target.write_bytes(source.read_bytes() + f"\n% {target.name} {time.time_ns()}\n".encode())
    return target
