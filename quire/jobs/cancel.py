"""Stops a running job."""

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.document import CancelRequest
from quire.domain import errors
from quire.jobs.access import Caller, check_owner
from quire.jobs.handles import Handle, describe, handle_of, request_of
from quire.jobs.session import Jobs
from workflows.document.workflow import DocumentWorkflow


async def cancel_job(jobs: Jobs, job_id: str, caller: Caller) -> Handle:
    """Request that the job stops with what it has; the server keeps the request for a worker.

    By a signal, which the server stores. The update `cancel_document` would answer, but one that
    no worker has accepted is lost when the server restarts.
    """
    description = await describe(jobs.client, job_id)
    if description.status is not WorkflowExecutionStatus.RUNNING:
        raise errors.not_running(job_id)
    # The workflow checks the owner too, but cannot answer a signal.
    check_owner(await request_of(jobs.client, job_id), caller)
    handle = handle_of(jobs.client, job_id)
    try:
        await handle.signal(DocumentWorkflow.cancel, CancelRequest(user_id=caller.user_id))
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise errors.not_running(job_id) from None
    return handle
