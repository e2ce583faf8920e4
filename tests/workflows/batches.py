"""A workflow whose commands show how its events reached it, and a worker to be killed.

Each batch of signals starts one timer. A workflow that first sees one signal and then another
starts two; a replay that sees both at once starts one, and fails.
"""

import asyncio
import sys
import time
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from temporalio.workflow import ActivityCancellationType, ActivityHandle

from quire.temporal.task_runner import WholeTaskRunner

STICKY_S = 3.0
# Long enough that the activity outlives its batch, see `drop`.
NAP_S = 1.0
LIMIT = timedelta(seconds=60)


@activity.defn
async def nap() -> None:
    """Take a moment."""
    await asyncio.sleep(NAP_S)


@workflow.defn
class Batches:
    """Collects signals in batches: all that came since the last one."""

    def __init__(self) -> None:
        self._new: list[str] = []
        self._seen: list[list[str]] = []
        self._timers: list[asyncio.Task[None]] = []
        self._napping: ActivityHandle[None] | None = None

    @workflow.run
    async def run(self) -> list[list[str]]:
        """Go on until the signal `end`."""
        while not (self._seen and "end" in self._seen[-1]):
            await workflow.wait_condition(lambda: bool(self._new))
            batch, self._new = self._new, []
            self._seen.append(batch)
            await self._act_on(batch)
        return self._seen

    async def _act_on(self, batch: list[str]) -> None:
        if "start" in batch:
            self._napping = workflow.start_activity(
                nap,
                start_to_close_timeout=LIMIT,
                cancellation_type=ActivityCancellationType.ABANDON,
            )
        elif "drop" in batch and self._napping is not None:
            # It goes on and ends later, in a task that has nothing new for the workflow.
            self._napping.cancel()
        elif "local" in batch:
            await workflow.execute_local_activity(nap, start_to_close_timeout=LIMIT)
            if workflow.patched("timer-after-local"):
                self._timers.append(asyncio.create_task(asyncio.sleep(1800)))
        self._timers.append(asyncio.create_task(asyncio.sleep(3600)))

    @workflow.signal
    def add(self, name: str) -> None:
        """One event of a batch."""
        self._new.append(name)

    @workflow.query
    def batches(self) -> list[list[str]]:
        """The batches so far."""
        return self._seen

    @workflow.query
    def slowly(self) -> list[list[str]]:
        """The same, while a local activity has time to end."""
        time.sleep(1.5 * NAP_S)
        return self._seen


async def serve(address: str, queue: str) -> None:
    """Run a worker; the queue's name says whether with our runner or with the SDK's own."""
    client = await Client.connect(address)
    ours = WholeTaskRunner(client) if queue == "ours" else None
    worker = Worker(
        client,
        task_queue=queue,
        workflows=[Batches],
        activities=[nap],
        workflow_runner=ours or UnsandboxedWorkflowRunner(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=STICKY_S),
    )
    if ours:
        ours.serve(worker)
    sys.stdout.write("serves\n")
    sys.stdout.flush()
    await worker.run()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
