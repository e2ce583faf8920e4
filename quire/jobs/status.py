"""The status of a job: its progress contract, and what a live view shows."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.status import BreakerStatus, DocumentStatus, PageRange, PageStatus, PageTexts
from quire.domain import errors
from quire.jobs.absent import failure_of, missing_for, why_unanswered
from quire.jobs.handles import Handle, find_job
from quire.jobs.session import Jobs
from workflows.document.workflow import DocumentWorkflow

T = TypeVar("T")
# A query to a lost worker waits for it three seconds (`STICKY_TIMEOUT`) and then goes to another,
# which replays the document before it answers.
QUERY_TIMEOUT = timedelta(seconds=4)
QUERY_ATTEMPTS = 5
NO_WORKER_ANSWERED = {
    RPCStatusCode.CANCELLED,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.FAILED_PRECONDITION,
    # The server keeps one query a job for a worker that is not there, and refuses others.
    RPCStatusCode.RESOURCE_EXHAUSTED,
}
AGAIN_AFTER_S = 0.5
# A worker that has the document at hand answers sooner.
SOON_S = 1.0


@dataclass(frozen=True)
class JobView:
    """A job as a live view shows it."""

    status: DocumentStatus
    breakers: list[BreakerStatus]
    # One letter a page, as the query `grid` answers.
    grid: str = ""


async def job_status(jobs: Jobs, job_id: str) -> DocumentStatus:
    """The progress contract of a job, with what it waits for that is missing."""
    handle = await find_job(jobs.client, job_id)
    status = await _answer(
        jobs, job_id, lambda: handle.query(DocumentWorkflow.status, rpc_timeout=QUERY_TIMEOUT)
    )
    if status.completed_at is not None:
        return status
    missing = await missing_for(jobs, job_id, status)
    waits = (*status.waiting_for, *(one.words() for one in missing))
    return status.model_copy(update={"waiting_for": waits})


async def job_pages(jobs: Jobs, job_id: str) -> list[PageStatus]:
    """Where each page of a job stands."""
    handle = await find_job(jobs.client, job_id)
    wanted = PageRange()
    return await _answer(
        jobs,
        job_id,
        lambda: handle.query(DocumentWorkflow.pages, wanted, rpc_timeout=QUERY_TIMEOUT),
    )


async def _answer(jobs: Jobs, job_id: str, query: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The answer to a query, which is repeated while no worker answers but nothing is missing."""
    for _ in range(QUERY_ATTEMPTS):
        try:
            return await _answer_or_missing(jobs, job_id, asyncio.create_task(query()))
        except WorkflowQueryFailedError as error:
            failure = await failure_of(jobs.client, job_id)
            raise failure or errors.no_query_answer(error.message) from None
        except RPCError as error:
            # A worker that takes over a lost worker's documents has to replay this one first.
            if error.status not in NO_WORKER_ANSWERED:
                raise
        await asyncio.sleep(AGAIN_AFTER_S)
    raise await why_unanswered(jobs, job_id)


async def _answer_or_missing(jobs: Jobs, job_id: str, asked: asyncio.Task[T]) -> T:
    """The answer; when it takes long, `JobWaits` if a worker that could give it is missing."""
    await asyncio.wait({asked}, timeout=SOON_S)
    if not asked.done() or asked.exception() is not None:
        missing = await missing_for(jobs, job_id)
        if missing and (not asked.done() or isinstance(asked.exception(), RPCError)):
            asked.cancel()
            await asyncio.wait({asked}, timeout=AGAIN_AFTER_S)
            raise missing[0]
    return await asked


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
