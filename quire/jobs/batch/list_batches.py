"""Lists batches, newest first."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio.client import WorkflowExecution

from quire.contracts.names import BATCH_ID_PREFIX, NAME_MEMO
from quire.jobs.batch.handles import batch_handle
from quire.jobs.batch.status import peek_status
from quire.jobs.list_jobs import quoted, recorded, started_at
from quire.jobs.session import Jobs
from quire.temporal import search_attributes


@dataclass(frozen=True)
class BatchListRow:
    """One batch of a list; its fields are those of the JSON. None is not known."""

    batch_id: str
    status: str
    started_at: str
    age_s: float
    completed_at: str | None = None
    user_id: str | None = None
    name: str | None = None
    documents: int | None = None
    ended: int | None = None
    failed: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True)
class BatchList:
    """The rows that were found, and whether there are more."""

    rows: tuple[BatchListRow, ...]
    more: bool


async def list_batches(jobs: Jobs, *, user: str | None = None, limit: int = 20) -> BatchList:
    """The batches, each by its latest run; a worker is asked how far they are."""
    query = "WorkflowType = 'BatchWorkflow' AND ExecutionStatus != 'ContinuedAsNew'"
    if user is not None:
        query += f" AND {search_attributes.USER.name} = {quoted(user)}"
    found: dict[str, WorkflowExecution] = {}
    async for execution in jobs.client.list_workflows(query, page_size=limit + 1):
        found.setdefault(execution.id, execution)
        if len(found) > limit:
            break
    several = list(found.values())[:limit]
    rows = await asyncio.gather(*(_row(jobs, execution) for execution in several))
    return BatchList(tuple(rows), more=len(found) > limit)


async def _row(jobs: Jobs, execution: WorkflowExecution) -> BatchListRow:
    batch_id = execution.id.removeprefix(BATCH_ID_PREFIX)
    started = await started_at(execution)
    status = await peek_status(batch_handle(jobs.client, batch_id))
    counts = status.progress_detail.counts if status else None
    attributes = execution.typed_search_attributes
    return BatchListRow(
        batch_id=batch_id,
        status=_word(execution, paused=status.progress_detail.paused if status else False),
        started_at=started.isoformat(),
        age_s=(datetime.now(UTC) - started).total_seconds(),
        completed_at=execution.close_time.isoformat() if execution.close_time else None,
        user_id=attributes.get(search_attributes.USER),
        name=await recorded(execution, NAME_MEMO) or None,
        documents=status.total_items if status else None,
        ended=counts.ended if counts else None,
        failed=status.failed_items if status else None,
        cost_usd=status.progress_detail.cost_usd if status else None,
    )


def _word(execution: WorkflowExecution, *, paused: bool) -> str:
    word = execution.status.name.lower() if execution.status else ""
    return "paused" if paused and word == "running" else word
