"""What is open on the queues of a seat, as the server lists it."""

from collections.abc import Sequence

from temporalio.client import Client, WorkflowExecution

# The watch runs by itself, and is no one's work.
_NOBODYS = "WatchWorkflow"
LISTED_AT_MOST = 1000


async def count_open(client: Client, queues: Sequence[str]) -> int:
    """How many workflows are open that were started on these queues."""
    return (await client.count_workflows(_query(queues))).count


async def list_open(client: Client, queues: Sequence[str]) -> list[WorkflowExecution]:
    """The workflows that are open, newest first."""
    found = client.list_workflows(_query(queues), limit=LISTED_AT_MOST)
    return [execution async for execution in found]


def _query(queues: Sequence[str]) -> str:
    named = ", ".join(f"'{queue}'" for queue in queues)
    return (
        f"ExecutionStatus = 'Running' AND WorkflowType != '{_NOBODYS}' AND TaskQueue IN ({named})"
    )
