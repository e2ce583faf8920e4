"""A worker whose decisions no other worker repeats: what it bricks fails every later replay."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio import client, worker, workflow
from temporalio.worker import (
    HandleSignalInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from quire.app.parts import build_parts
from quire.app.workers import build_workers
from quire.contracts.names import workflow_id
from quire.settings import load_settings
from quire.temporal.connect import connect
from testing.tool import Tool

BRICK = "brick"
# A timer that the code of documents never starts.
FOREVER = timedelta(days=1)
GRACE = timedelta(milliseconds=10)


class _Bricks(WorkflowInboundInterceptor):
    async def handle_signal(self, input: HandleSignalInput) -> None:
        if input.signal == BRICK:
            self._timer = asyncio.create_task(workflow.sleep(FOREVER))
            return
        await super().handle_signal(input)


class Brick(client.Interceptor, worker.Interceptor):
    """Makes a client's workers brick documents on the signal `brick`."""

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor]:
        return _Bricks


async def poke(connected: client.Client, job_id: str) -> None:
    """Give the document a workflow task: a bricked one fails it wherever it goes."""
    await connected.get_workflow_handle(workflow_id(job_id)).signal("poke")


@asynccontextmanager
async def bricking_worker(tool: Tool) -> AsyncIterator[client.Client]:
    """Workers of every role with the tool's settings, in this process."""
    own = {name.lower(): value for name, value in tool.settings.items()}
    settings = load_settings({**own, "state_dir": str(tool.state)}, config="none")
    connected = await connect(settings, interceptors=[Brick()])
    parts = build_parts(settings)
    workers = build_workers(connected, parts, grace=GRACE)
    running = [asyncio.create_task(each.run()) for each in workers]
    try:
        yield connected
    finally:
        await asyncio.gather(*(each.shutdown() for each in workers))
        await asyncio.gather(*running)
        await parts.close()


async def brick(connected: client.Client, job_id: str) -> None:
    """Brick the document, and wait until that stands in its history."""
    handle: client.WorkflowHandle[Any, Any] = connected.get_workflow_handle(workflow_id(job_id))
    await handle.signal(BRICK)
    async with asyncio.timeout(60):
        while True:
            if await _is_bricked(handle):
                break
            await asyncio.sleep(0.1)


async def _is_bricked(handle: client.WorkflowHandle[Any, Any]) -> bool:
    seconds = int(FOREVER.total_seconds())
    return any(
        [
            event.timer_started_event_attributes.start_to_fire_timeout.seconds == seconds
            async for event in handle.fetch_history_events()
        ]
    )
