"""A job on the server: its handle, its description and its request."""

from temporalio.api.history.v1 import WorkflowExecutionStartedEventAttributes
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
)
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.carried import DocumentRun
from quire.contracts.document import DocumentRequest, ReplacedRun
from quire.contracts.names import workflow_id
from quire.contracts.results import DocumentResult
from quire.domain import errors
from quire.temporal.connect import missing_namespace
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
    except UnicodeEncodeError:  # such an id cannot even be asked for
        raise errors.job_not_found(job_id) from None
    except RPCError as error:
        if not _is_unknown(error):
            raise
        raise errors.job_not_found(job_id) from None


def _is_unknown(error: RPCError) -> bool:
    """Whether the server does not know the job; it may not know the namespace."""
    return error.status is RPCStatusCode.NOT_FOUND and missing_namespace(error) is None


async def is_running(client: Client, job_id: str) -> bool:
    """Whether the job is running; `JobNotFound` when there is none."""
    return (await describe(client, job_id)).status is WorkflowExecutionStatus.RUNNING


async def request_of(client: Client, job_id: str) -> DocumentRequest:
    """The request of the job's latest run; `JobNotFound` when there is none."""
    payloads = (await _start_of(client, job_id)).input.payloads
    try:
        [run] = await client.data_converter.decode(payloads, [DocumentRun])
    except ValueError:  # a foreign client's, or one of a later version
        raise errors.start_unknown(job_id) from None
    return run.request() if isinstance(run, DocumentRun) else DocumentRequest(**run)


async def replaced_run(client: Client, request: DocumentRequest) -> ReplacedRun:
    """The job's latest run, as a forced one that replaces it needs to know it."""
    start = await _start_of(client, request.job_id)
    if request.force:
        # Its answers are apart from all others: they are as new as it is.
        return ReplacedRun(salt=start.first_execution_run_id)
    runs = [start.original_execution_run_id]
    while before := start.continued_execution_run_id:
        start = await _start_of(client, request.job_id, before)
        runs.append(before)
    return ReplacedRun(bought_by=tuple(runs))


async def _start_of(
    client: Client, job_id: str, run_id: str | None = None
) -> WorkflowExecutionStartedEventAttributes:
    """How a run began: the job's latest, or the one that is named."""
    handle = client.get_workflow_handle(workflow_id(job_id), run_id=run_id)
    try:
        async for event in handle.fetch_history_events(page_size=1):
            return event.workflow_execution_started_event_attributes
    except RPCError as error:
        if not _is_unknown(error):
            raise
    raise errors.job_not_found(job_id)
