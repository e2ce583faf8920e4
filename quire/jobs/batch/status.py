"""The status of a batch: its progress contract, also when its workflow is over."""

import asyncio
from datetime import timedelta

from temporalio.client import (
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from quire.app.parts import open_results
from quire.contracts.batch import BatchResult
from quire.contracts.batch_status import BatchDetail, BatchStatus
from quire.contracts.codes import ErrorInfo
from quire.domain import errors
from quire.jobs.batch.handles import Handle, describe_batch
from quire.jobs.session import Jobs
from quire.jobs.status import NO_WORKER_ANSWERED
from quire.store.batch_files import read_batch
from workflows.batch.workflow import BatchWorkflow

QUERY_TIMEOUT = timedelta(seconds=4)
ATTEMPTS = 5
AGAIN_AFTER_S = 0.5


async def batch_status(jobs: Jobs, batch_id: str) -> BatchStatus:
    """The progress contract of a batch; of one whose history is gone, by its files."""
    try:
        description = await describe_batch(jobs.client, batch_id)
    except errors.BatchNotFound:
        stored = await read_batch(open_results(jobs.settings).place(""), batch_id)
        if stored is None:
            raise
        return status_of(stored)
    handle: Handle = jobs.client.get_workflow_handle_for(BatchWorkflow.run, description.id)
    for _ in range(ATTEMPTS):
        try:
            return await handle.query(BatchWorkflow.status, rpc_timeout=QUERY_TIMEOUT)
        except WorkflowQueryFailedError as error:
            raise errors.no_query_answer(error.message) from None
        except RPCError as error:
            if error.status not in NO_WORKER_ANSWERED:
                raise
        await asyncio.sleep(AGAIN_AFTER_S)
    if description.status is WorkflowExecutionStatus.COMPLETED:
        return status_of(await handle.result())
    raise errors.no_worker_with_role("workflows")


async def peek_status(handle: Handle) -> BatchStatus | None:
    """The status for a live view; None when no worker answers now."""
    try:
        return await handle.query(BatchWorkflow.status, rpc_timeout=QUERY_TIMEOUT)
    except (RPCError, WorkflowQueryFailedError):
        return None


async def wait_for_batch(handle: Handle) -> BatchResult:
    """The result of a batch once it is done; its error when there is none."""
    try:
        return await handle.result()
    except WorkflowFailureError as error:
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.details:
            info = ErrorInfo.model_validate(cause.details[0])
            raise errors.DocumentRefused.from_info(info) from None
        raise errors.job_ended(type(cause).__name__) from None


def status_of(result: BatchResult) -> BatchStatus:
    """The status of a batch that is done, by its result."""
    counts = result.counts
    return BatchStatus(
        job_id=result.batch_id,
        batch_id=result.batch_id,
        name=result.name,
        status="completed",
        progress=100.0,
        total_items=result.documents,
        completed_items=counts.with_text,
        failed_items=counts.ended - counts.with_text,
        progress_detail=BatchDetail(
            counts=counts,
            phase="done",
            pages=result.pages,
            pages_by_source=result.pages_by_source,
            input_tokens=result.input_tokens,
            output_tokens=result.output_tokens,
            cost_usd=result.cost_usd,
            cancelled=result.cancelled,
            stopped_by=result.stopped_by,
        ),
        started_at=result.started_at,
        completed_at=result.completed_at,
    )
