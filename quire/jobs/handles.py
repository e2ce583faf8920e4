"""A job on the server: its handle, its description and its request."""

from temporalio.client import Client, WorkflowExecutionDescription, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.carried import DocumentRun
from quire.contracts.document import DocumentRequest
from quire.contracts.names import workflow_id
from quire.contracts.results import DocumentResult
from quire.domain import errors
from workflows.document.workflow import DocumentWorkflow

Handle = WorkflowHandle[DocumentWorkflow, DocumentResult]


def handle_of(client: Client, job_id: str) -> Handle:
    """The handle of the job's latest run; the server is not asked whether there is one."""
    return client.get_workflow_handle_for(DocumentWorkflow.run, workflow_id(job_id))


async def find_job(client: Client, job_id: str) -> Handle:
    """The job's latest run; `JobNotFound` when there is none."""
    await describe(client, job_id)
    return handle_of(client, job_id)


async def describe(client: Client, job_id: str) -> WorkflowExecutionDescription:
    """The job's execution; `JobNotFound` when there is none."""
    try:
        return await handle_of(client, job_id).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise errors.job_not_found(job_id) from None


async def request_of(client: Client, job_id: str) -> DocumentRequest:
    """The request of the job's latest run; `JobNotFound` when there is none."""
    handle = handle_of(client, job_id)
    try:
        async for event in handle.fetch_history_events(page_size=1):
            payloads = event.workflow_execution_started_event_attributes.input.payloads
            [run] = await client.data_converter.decode(payloads, [DocumentRun])
            return run.request() if isinstance(run, DocumentRun) else DocumentRequest(**run)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    raise errors.job_not_found(job_id)
