"""A storm: documents ten at a time, foreign queries, and a worker that is killed again and again.

Afterwards every document must be complete, no stored page may have been asked for again, and every
history must replay: a worker that takes a document over has to come to the same decisions.
"""

import argparse
import asyncio
import contextlib
import hashlib
import itertools
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowQueryFailedError
from temporalio.service import RPCError
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from bench.faults.line import Line
from quire.contracts.carried import DocumentRun
from quire.contracts.names import WORKFLOW_QUEUE, workflow_id
from quire.domain.errors import QuireError
from quire.jobs.result import wait_for_result
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.converter import DATA_CONVERTER
from testing import pdfs
from testing.cluster import Cluster, children_of, kill, open_to_others
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.calls import Call
from testing.vendor.standin import StandIn
from workflows.document.workflow import DocumentWorkflow

AT_ONCE = 10
QUERY_LOOPS = 4
# Short documents, so that many are at their beginning or end when their worker dies.
PAGES = 6
VENDOR_S = 0.5
# After the start of the next worker, which takes two seconds or more itself.
BETWEEN_KILLS_S = (0.5, 2.5)
DEADLINE_S = 1200.0
EVICTED = b"will be replayed"


@dataclass
class StormOutcome:
    """What a storm left behind."""

    documents: int
    ended: int = 0
    replayed: int = 0
    survived: int = 0
    pages_lost: int = 0
    calls_repeated: int = 0
    kills: int = 0
    queries: int = 0
    answered: int = 0
    slowest_answer_s: float = 0.0
    evictions: int = 0
    failed_tasks: int = 0
    # Taken for stuck and started again; no document of a storm ought to be.
    healed: int = 0
    seconds: float = 0.0
    unreplayable: list[str] = field(default_factory=list)
    # By document: how it ended, if not with all its pages. By call: what was asked again.
    why_lost: list[str] = field(default_factory=list)
    asked_again: list[str] = field(default_factory=list)

    def note(self) -> str:
        """The rest of what was counted, for a table."""
        return (
            f"{self.kills} kills in {self.seconds:.0f} s; {self.answered} of {self.queries} "
            f"queries answered, slowest {self.slowest_answer_s:.1f} s; {self.replayed} histories "
            f"replay; {self.evictions} runs evicted, {self.failed_tasks} tasks failed, "
            f"{self.healed} documents healed"
            + "".join(f"; {what}" for what in (*self.why_lost, *self.asked_again))
        )


class Storm:
    """One storm over one cluster."""

    def __init__(self, folder: Path, documents: int, *, killing: bool, seed: int = 20) -> None:
        self._folder = folder
        self._killing = killing
        self._chance = random.Random(seed)
        self._jobs = [f"storm-{number:03d}" for number in range(documents)]
        self._open: list[str] = []
        self._complete: set[str] = set()
        # When each stored page was first known to be stored.
        self._stored: dict[tuple[str, int], float] = {}
        self.outcome = StormOutcome(documents)

    async def run(self) -> StormOutcome:
        """Begin, rage, and count."""
        started = time.monotonic()
        sources = await asyncio.to_thread(self._make_sources)
        state = self._folder / "state"
        with StandIn() as vendor, Cluster(self._folder / "cluster") as cluster:
            vendor.behave(vendor_answers_late(VENDOR_S))
            tool = Tool(state, vendor, **open_to_others(*sources))
            await asyncio.to_thread(cluster.start_worker, tool)
            client = await connect(Settings(), cluster.address)
            others = [asyncio.create_task(self._query(client)) for _ in range(QUERY_LOOPS)]
            if self._killing:
                others.append(asyncio.create_task(self._kill(cluster, tool)))
            places = asyncio.Semaphore(AT_ONCE)
            try:
                await asyncio.gather(
                    *(
                        self._process(client, places, job, source)
                        for job, source in zip(self._jobs, sources, strict=True)
                    )
                )
            finally:
                # One that has ended has failed: a storm in which no worker dies is none.
                failed = [task.exception() for task in others if task.done()]
                for task in others:
                    task.cancel()
                await asyncio.gather(*others, return_exceptions=True)
            if failed:
                raise RuntimeError(f"the storm lost its wind: {failed}")
            self.outcome.seconds = time.monotonic() - started
            self.outcome.calls_repeated = self._repeated(vendor.calls())
            await self._replay(client)
            logs = (self._folder / "cluster").glob("worker-*.log")
            self.outcome.evictions = sum(log.read_bytes().count(EVICTED) for log in logs)
        return self.outcome

    def _make_sources(self) -> list[Path]:
        """The same pages in files that differ by a comment: documents of their own."""
        self._folder.mkdir(parents=True, exist_ok=True)
        pages = pdfs.mixed_pdf(self._folder / "pages.pdf", 0, PAGES).read_bytes()
        self._hashes = {}
        sources = []
        for job in self._jobs:
            content = pages + f"\n% {job}\n".encode()
            self._hashes[hashlib.sha256(content).hexdigest()] = job
            sources.append(self._folder / f"{job}.pdf")
            sources[-1].write_bytes(content)
        return sources

    async def _process(
        self, client: Client, places: asyncio.Semaphore, job: str, source: Path
    ) -> None:
        async with places:
            handle = await client.start_workflow(
                DocumentWorkflow.run,
                DocumentRun(
                    job_id=job,
                    source=str(source),
                    source_name=source.name,
                    instructions=f"This is document {job}.",
                    deadline_s=DEADLINE_S,
                ),
                id=workflow_id(job),
                task_queue=WORKFLOW_QUEUE,
            )
            self._open.append(job)
            try:
                async with asyncio.timeout(DEADLINE_S + 60):
                    result = await wait_for_result(handle)
                read, how = result.metadata.ai_pages_succeeded, result.message
                self.outcome.healed += result.metadata.healed
            except (TimeoutError, QuireError) as error:
                read, how = 0, str(error) or type(error).__name__
            self._open.remove(job)
        if read == PAGES:
            self._complete.add(job)
        else:
            self.outcome.why_lost.append(f"{job}: {how}")
        self.outcome.pages_lost += PAGES - read
        self.outcome.ended += 1
        if self.outcome.ended % 10 == 0:
            sys.stderr.write(f"{self.outcome.ended} documents, {self.outcome.kills} kills\n")

    async def _query(self, client: Client) -> None:
        """Ask as the Web UI or the CLI would: by name, about any document, at any time."""
        while True:
            await asyncio.sleep(self._chance.uniform(0.02, 0.2))
            if not self._open:
                continue
            handle = client.get_workflow_handle(workflow_id(self._chance.choice(self._open)))
            started = time.monotonic()
            self.outcome.queries += 1
            with contextlib.suppress(RPCError, WorkflowQueryFailedError):
                await handle.query(
                    self._chance.choice(("status", "pages")), rpc_timeout=timedelta(seconds=30)
                )
                self.outcome.answered += 1
                took = time.monotonic() - started
                self.outcome.slowest_answer_s = max(self.outcome.slowest_answer_s, took)

    async def _kill(self, cluster: Cluster, tool: Tool) -> None:
        """Always the oldest of two: the other takes over at once, as in a cluster."""
        for oldest in itertools.count():
            await asyncio.to_thread(cluster.start_worker, tool)
            await asyncio.sleep(self._chance.uniform(*BETWEEN_KILLS_S))
            worker = cluster.workers[oldest]
            children = children_of(worker.pid)
            worker.send_signal(signal.SIGKILL)
            await asyncio.to_thread(worker.wait)
            for child in children:
                kill(child)
            self.outcome.kills += 1
            await asyncio.to_thread(self._note_stored, tool.state / "store" / "answers")

    def _note_stored(self, answers: Path) -> None:
        paths = list(answers.rglob("*.json"))
        now = time.monotonic()
        for path in paths:
            page = (self._hashes[path.parent.name], int(path.name.split("-")[0]))
            self._stored.setdefault(page, now)

    def _repeated(self, calls: Sequence[Call]) -> int:
        """Calls for pages whose answer was in the store when a worker had died before them."""
        known = ((call, self._stored.get(_page_of(call), call.started)) for call in calls)
        self.outcome.asked_again = [
            f"{call.model} asked for {_page_of(call)} {call.started - stored:.1f} s after"
            for call, stored in known
            if call.started > stored
        ]
        return len(self.outcome.asked_again)

    async def _replay(self, client: Client) -> None:
        replayer = Replayer(
            workflows=[DocumentWorkflow],
            workflow_runner=UnsandboxedWorkflowRunner(),
            data_converter=DATA_CONVERTER,
        )
        for job in self._jobs:
            good = True
            async for run in client.list_workflows(f"WorkflowId = '{workflow_id(job)}'"):
                handle = client.get_workflow_handle(run.id, run_id=run.run_id)
                history = await handle.fetch_history()
                self.outcome.failed_tasks += sum(
                    event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
                    for event in history.events
                )
                ran = await replayer.replay_workflow(history, raise_on_replay_failure=False)
                good = good and ran.replay_failure is None
            self.outcome.replayed += good
            self.outcome.survived += good and job in self._complete
            if not good:
                self.outcome.unreplayable.append(job)


def _page_of(call: Call) -> tuple[str, int]:
    job = re.search(r"document (storm-\d+)", call.system + call.user)
    page = re.search(r"page (\d+) of", call.user)
    assert job is not None, call.system
    assert page is not None, call.user
    return job[1], int(page[1])


def lines(folder: Path, documents: int) -> list[Line]:
    """Workers killed every few seconds under foreign queries; a history must replay to survive."""
    outcome = rage(folder, documents)
    return [
        Line(
            "storm of kills and queries",
            documents,
            outcome.survived,
            outcome.pages_lost,
            outcome.calls_repeated,
            outcome.note(),
        )
    ]


def rage(folder: Path, documents: int, *, killing: bool = True) -> StormOutcome:
    """A storm over so many documents; a document survives complete and with a sound history."""
    return asyncio.run(Storm(folder, documents, killing=killing).run())


def main() -> int:
    """Run one storm alone, or the same in calm: no worker dies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--calm", action="store_true", help="kill no worker")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = rage(Path(folder), arguments.documents, killing=not arguments.calm)
    sys.stdout.write(f"{outcome}\n{outcome.note()}\n")
    lost = outcome.documents - outcome.survived
    return 1 if lost or outcome.calls_repeated else 0


if __name__ == "__main__":
    sys.exit(main())
