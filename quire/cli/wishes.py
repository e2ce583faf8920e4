"""Commands that change a job: retry and cancel."""

from temporalio.client import (
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from quire.app import plan_defaults
from quire.cli import jobs
from quire.cli.exits import Exit, UsageError, say
from quire.cli.live import beside, follow
from quire.cli.process import Output, engine_of, load_result, show_result
from quire.cli.session import Session, open_session
from quire.cli.silence import tell_later
from quire.contracts.codes import Code, ErrorInfo
from quire.contracts.document import CancelRequest, RetryRequest
from quire.domain import errors
from quire.domain.document.retry import pages_to_retry
from quire.domain.errors import JobError
from quire.domain.page_ranges import format_pages
from quire.settings import Settings
from workflows.document.workflow import DocumentWorkflow

# The server holds what it asked for nobody yet only in memory: who leaves must ask again.
WISH_WAITS = (
    "no worker answers; the wish waits for one as long as this command does "
    "(start one with: worker.py; starter.py doctor says what is there)"
)


async def retry(settings: Settings, job_id: str, wish: RetryRequest, output: Output) -> Exit:
    """Read pages again: at once on a running job, by a new run of a finished one."""
    async with open_session(settings) as session:
        description = await jobs.describe(session.client, job_id)
        if description.status is WorkflowExecutionStatus.RUNNING:
            await _ask_running(session, job_id, wish)
        elif not await _start_again(session, description, job_id, wish):
            if wish.pages is not None:
                raise UsageError(
                    f"--pages: job {job_id!r} has no page {wish.pages}.",
                    f"See its pages with: starter.py result {job_id}",
                )
            say(f"Nothing to retry: job {job_id!r} has no degraded page.")
            result = await jobs.result_of(jobs.handle_of(session.client, job_id))
            return await show_result(session, result, output)
        handle = jobs.handle_of(session.client, job_id)
        result = await follow(handle, jobs.result_of(handle))
        return await show_result(session, result, output)


async def _ask_running(session: Session, job_id: str, wish: RetryRequest) -> None:
    handle = jobs.handle_of(session.client, job_id)
    try:
        asking = handle.execute_update(DocumentWorkflow.retry_pages, wish)
        answer = await beside(tell_later(WISH_WAITS), asking)
    except WorkflowUpdateFailedError as error:
        raise _refusal(error) from None
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        raise jobs.no_worker(job_id) from None
    say(f"job {job_id}: reading again pages {format_pages(answer.pages)}")


async def _start_again(
    session: Session, description: WorkflowExecutionDescription, job_id: str, wish: RetryRequest
) -> bool:
    """False when there is nothing to read again. A job that failed is simply run anew."""
    request = await jobs.request_of(session.client, job_id)
    if request.user_id != wish.user_id:
        raise errors.not_owner(job_id)
    if description.status is WorkflowExecutionStatus.COMPLETED:
        result = await jobs.result_of(jobs.handle_of(session.client, job_id))
        report, _ = await load_result(session, result)
        pages = pages_to_retry(wish.pages, {page.page: page.source for page in report.pages})
        if not pages:
            return False
        say(f"job {job_id}: reading again pages {format_pages(pages)}")
        request = request.model_copy(update={"retry": wish, "force": False})
    await jobs.start_anew(
        session.client,
        request,
        engine_of(session.settings, request, plan_defaults(session.settings)),
    )
    return True


async def cancel(settings: Settings, job_id: str, wish: CancelRequest, output: Output) -> Exit:
    """Stop a running job, and show what it had done.

    By a signal, which the server keeps until a worker is there. The update `cancel_document`
    would answer, but one that no worker has accepted is lost when the server restarts.
    """
    async with open_session(settings) as session:
        description = await jobs.describe(session.client, job_id)
        if description.status is not WorkflowExecutionStatus.RUNNING:
            raise _not_running(job_id)
        # The workflow asks for the owner too, but cannot answer a signal.
        if (await jobs.request_of(session.client, job_id)).user_id != wish.user_id:
            raise errors.not_owner(job_id)
        handle = jobs.handle_of(session.client, job_id)
        try:
            await handle.signal(DocumentWorkflow.cancel, wish)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            raise _not_running(job_id) from None
        say(f"job {job_id}: the wish to stop is kept by the server")
        result = await follow(handle, jobs.result_of(handle))
        return await show_result(session, result, output)


def _not_running(job_id: str) -> JobError:
    return JobError(
        Code.NOT_READY,
        "NOT_RUNNING",
        f"Job {job_id!r} is not running.",
        f"See its result with: starter.py result {job_id}",
    )


def _refusal(error: WorkflowUpdateFailedError) -> JobError:
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.details:
        return JobError.from_info(ErrorInfo.model_validate(cause.details[0]))
    return JobError(Code.UNKNOWN, "REFUSED", "The job refused.", "Look at its status.")
