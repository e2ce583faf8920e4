"""Reads pages of a job again."""

from dataclasses import dataclass

from temporalio.client import (
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError

from quire.contracts.codes import ErrorInfo
from quire.contracts.document import RetryRequest
from quire.domain import errors
from quire.domain.document.retry import pages_to_retry, sources_of
from quire.jobs.absent import why_unanswered
from quire.jobs.access import Caller, check_owner
from quire.jobs.handles import Handle, describe, handle_of, request_of
from quire.jobs.result import load_result, wait_for_result
from quire.jobs.session import Jobs
from quire.jobs.submit import submit_again
from workflows.document.workflow import DocumentWorkflow


@dataclass(frozen=True)
class RetryOutcome:
    """What a retry started: the pages that are read again, and the run that reads them."""

    handle: Handle
    pages: tuple[int, ...] = ()
    # Every page is good, or none of the named pages exists: nothing was started.
    nothing_to_do: bool = False


async def retry_pages(
    jobs: Jobs, job_id: str, caller: Caller, pages: str | None = None
) -> RetryOutcome:
    """Read pages again: by update while the job runs, by a new run once it is done.

    A job that failed is run again as a whole. The update waits for a worker only as long as the
    caller does: the server keeps updates that no worker has accepted in memory.
    """
    description = await describe(jobs.client, job_id)
    request = RetryRequest(user_id=caller.user_id, pages=pages)
    begun = await request_of(jobs.client, job_id)
    check_owner(begun, caller)
    if description.status is WorkflowExecutionStatus.RUNNING:
        return await _update(jobs, job_id, request)
    handle = handle_of(jobs.client, job_id)
    if description.status is not WorkflowExecutionStatus.COMPLETED:
        return RetryOutcome(await submit_again(jobs, begun))
    report = (await load_result(jobs.settings, await wait_for_result(handle))).report
    again = pages_to_retry(pages, sources_of(report))
    if not again:
        return RetryOutcome(handle, nothing_to_do=True)
    begun = begun.model_copy(update={"retry": request, "force": False, "replaced": ()})
    return RetryOutcome(await submit_again(jobs, begun), again)


async def _update(jobs: Jobs, job_id: str, request: RetryRequest) -> RetryOutcome:
    handle = handle_of(jobs.client, job_id)
    try:
        answer = await handle.execute_update(DocumentWorkflow.retry_pages, request)
    except WorkflowUpdateFailedError as error:
        raise _refusal(error) from None
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        raise await why_unanswered(jobs, job_id) from None
    return RetryOutcome(handle, tuple(answer.pages))


def _refusal(error: WorkflowUpdateFailedError) -> errors.JobError:
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.details:
        return errors.JobError.from_info(ErrorInfo.model_validate(cause.details[0]))
    return errors.job_refused()
