"""Queries that wait for a lost worker reach the next one before the tasks of later events do.

Every way in which that can happen, with a real server and workers that are killed. The SDK's own
runner goes through the same: as long as its histories cannot be replayed, ours is needed, and the
cases still are what they say.
"""

import asyncio
import contextlib
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
import temporalio
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from quire.temporal.task_runner import TRIED_SDK
from testing.cluster import Cluster
from testing.tool import ROOT
from tests.workflows.batches import NAP_S, Batches

Handle = WorkflowHandle[Batches, list[list[str]]]
CASES = ("plain", "empty_task", "local_activity", "open_task")


class TooSlow(Exception):
    """The machine was too busy to bring the case about."""


class Workers:
    """Worker processes of one queue."""

    def __init__(self, address: str, queue: str) -> None:
        self._command = [sys.executable, "-m", "tests.workflows.batches", address, queue]
        self.running: list[subprocess.Popen[bytes]] = []

    async def start(self) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(self._command, cwd=ROOT, stdout=subprocess.PIPE)  # noqa: ASYNC220
        self.running.append(worker)
        assert worker.stdout is not None
        assert b"serves" in await asyncio.to_thread(worker.stdout.readline)
        return worker

    def stop(self) -> None:
        for worker in self.running:
            worker.kill()
            worker.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("lost-queries")) as running:
        yield running


async def begin(client: Client, case: str, queue: str) -> Handle:
    """A workflow that waits, its tasks bound to the only worker."""
    handle: Handle = await client.start_workflow(
        Batches.run,
        id=f"{queue}-{case}-{uuid.uuid4()}",
        task_queue=queue,
        task_timeout=timedelta(seconds=5),
    )
    names = ("start", "drop") if case == "empty_task" else ("a",)
    for count, name in enumerate(names, start=1):
        await handle.signal(Batches.add, name)
        while len(await handle.query(Batches.batches)) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return handle


async def lose_a_worker(address: str, queue: str) -> dict[str, Handle]:
    """Every case at once: query, worker lost, events, the query's answer, more events."""
    client = await Client.connect(address)
    workers = Workers(address, queue)
    try:
        lost = await workers.start()
        handles = dict(
            zip(CASES, await asyncio.gather(*(begin(client, c, queue) for c in CASES)), strict=True)
        )
        await asyncio.sleep(2 * NAP_S)
        await workers.start()
        for handle in handles.values():
            # The server waits only for a worker that has lately been seen.
            await handle.query(Batches.batches)
        # Its polls are open: what comes now is handed to it, and it will do nothing about it.
        lost.send_signal(signal.SIGSTOP)
        queries = {"open_task": ask(handles["open_task"])}
        await asyncio.sleep(0.3)
        await handles["open_task"].signal(Batches.add, "b")
        await asyncio.sleep(0.3)
        lost.kill()
        lost.wait()
        others = [case for case in CASES if case != "open_task"]
        queries |= {case: ask(handles[case]) for case in others}
        await asyncio.sleep(1)
        for case in others:
            await handles[case].signal(Batches.add, "local" if case == "local_activity" else "b")
        for case, query in queries.items():
            try:
                answer = await query
            except RPCError as error:
                raise TooSlow(f"{case}: the server gave the query up") from error
            if answer[-1] not in (["b"], ["local"]):
                raise TooSlow(f"{case}: the query was answered before the event")
            await handles[case].signal(Batches.add, "c")
        await asyncio.sleep(6)
        for handle in handles.values():
            await handle.signal(Batches.add, "end")
            await handle.result()
    finally:
        workers.stop()
    return handles


def ask(handle: Handle) -> asyncio.Task[list[list[str]]]:
    return asyncio.create_task(handle.query(Batches.batches, rpc_timeout=timedelta(seconds=30)))


async def replays(handle: Handle) -> bool:
    replayer = Replayer(workflows=[Batches], workflow_runner=UnsandboxedWorkflowRunner())
    history = await handle.fetch_history()
    result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return result.replay_failure is None


async def test_query_to_a_lost_worker_spoils_no_history(cluster: Cluster) -> None:
    spoilt: set[str] = set()
    for _ in range(3):
        with contextlib.suppress(TooSlow):
            ours = await lose_a_worker(cluster.address, "ours")
            for case, handle in ours.items():
                assert await replays(handle), case
                assert await failed_tasks(handle) == 0, case
            theirs = await lose_a_worker(cluster.address, "theirs")
            spoilt |= {case for case, handle in theirs.items() if not await replays(handle)}
        if spoilt == set(CASES):
            return
    pytest.skip("the machine is too busy to bring about every case")


async def failed_tasks(handle: Handle) -> int:
    kinds = [event.event_type async for event in handle.fetch_history_events()]
    return kinds.count(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)


async def query_during_local_activity(address: str, queue: str) -> Handle:
    """The first task brings a query, whose answer takes longer than the local activity."""
    client = await Client.connect(address)
    handle: Handle = await client.start_workflow(
        Batches.run, id=f"{queue}-during-{uuid.uuid4()}", task_queue=queue
    )
    await handle.signal(Batches.add, "local")
    query = asyncio.create_task(handle.query(Batches.slowly, rpc_timeout=timedelta(seconds=30)))
    await asyncio.sleep(0.5)
    workers = Workers(address, queue)
    try:
        await workers.start()
        assert await query == [["local"]]
        await handle.signal(Batches.add, "end")
        await handle.result()
    finally:
        workers.stop()
    return handle


async def test_query_during_a_local_activity_spoils_no_history(cluster: Cluster) -> None:
    ours, theirs = await asyncio.gather(
        query_during_local_activity(cluster.address, "ours"),
        query_during_local_activity(cluster.address, "theirs"),
    )
    assert await replays(ours)
    assert not await replays(theirs)


def test_installed_and_pinned_sdk_is_the_one_that_was_tried() -> None:
    """Before `TRIED_SDK` moves on, the test above must have passed with the new version."""
    pinned = re.search(
        r"^temporalio==(\S+)", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE
    )
    assert pinned is not None
    assert pinned[1] == TRIED_SDK
    assert temporalio.__version__ == TRIED_SDK
