"""The status of a job: its progress contract, and what a live view shows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.names import WORKFLOW_QUEUE
from quire.contracts.status import BreakerStatus, DocumentStatus, PageRange, PageStatus, PageTexts
from quire.domain import errors
from quire.jobs.handles import Handle, find_job
from quire.jobs.session import Jobs
from workflows.document.workflow import DocumentWorkflow

T = TypeVar("T")
# A query to a lost worker waits for it three seconds (see `STICKY_TIMEOUT` in quire/app.py) and
# then goes to another, which replays the document before it answers.
QUERY_TIMEOUT = timedelta(seconds=4)
QUERY_ATTEMPTS = 5
NO_WORKER_ANSWERED = {
    RPCStatusCode.CANCELLED,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.FAILED_PRECONDITION,
}


@dataclass(frozen=True)
class JobView:
    """A job as a live view shows it."""

    status: DocumentStatus
    breakers: list[BreakerStatus]
    # One letter a page, as the query `grid` answers.
    grid: str = ""


async def job_status(jobs: Jobs, job_id: str) -> DocumentStatus:
    """The progress contract of a job."""
    handle = await find_job(jobs.client, job_id)
    return await _answer(
        job_id, lambda: handle.query(DocumentWorkflow.status, rpc_timeout=QUERY_TIMEOUT)
    )


async def job_pages(jobs: Jobs, job_id: str) -> list[PageStatus]:
    """Where each page of a job stands."""
    handle = await find_job(jobs.client, job_id)
    wanted = PageRange()
    return await _answer(
        job_id, lambda: handle.query(DocumentWorkflow.pages, wanted, rpc_timeout=QUERY_TIMEOUT)
    )


async def _answer(job_id: str, query: Callable[[], Awaitable[T]]) -> T:
    """The answer to a query, which is repeated while no worker answers."""
    for _ in range(QUERY_ATTEMPTS):
        try:
            return await query()
        except WorkflowQueryFailedError as error:
            raise errors.no_query_answer(error.message) from None
        except RPCError as error:
            # A worker that takes over a lost worker's documents has to replay this one first.
            if error.status not in NO_WORKER_ANSWERED:
                raise
    raise errors.no_worker_answers(job_id, queue=WORKFLOW_QUEUE)


async def job_view(handle: Handle) -> JobView | None:
    """Status and breakers for a live view; None when no worker answers now."""
    try:
        status = await handle.query(DocumentWorkflow.status, rpc_timeout=QUERY_TIMEOUT)
        breakers = await handle.query(DocumentWorkflow.breakers, rpc_timeout=QUERY_TIMEOUT)
        grid = await handle.query(DocumentWorkflow.grid, rpc_timeout=QUERY_TIMEOUT)
        return JobView(status, breakers, grid)
    except (RPCError, WorkflowQueryFailedError):
        return None


async def stored_texts(handle: Handle, first: int) -> PageTexts | None:
    """The keys of the texts of the next finished pages; None when no worker answers now."""
    try:
        return await handle.query(
            DocumentWorkflow.texts, PageRange(first=first), rpc_timeout=QUERY_TIMEOUT
        )
    except (RPCError, WorkflowQueryFailedError):
        return None
