"""A batch on the server: its handle, its description and its request."""

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
)
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.batch import BatchRequest, BatchResult
from quire.contracts.batch_steps import BatchRun
from quire.contracts.names import batch_workflow_id
from quire.domain import errors
from quire.domain.document.ownership import may_change
from quire.jobs.access import Caller
from workflows.batch.workflow import BatchWorkflow

Handle = WorkflowHandle[BatchWorkflow, BatchResult]


def batch_handle(client: Client, batch_id: str) -> Handle:
    """The handle of the batch's latest run; the server is not asked whether there is one."""
    return client.get_workflow_handle_for(BatchWorkflow.run, batch_workflow_id(batch_id))


async def describe_batch(client: Client, batch_id: str) -> WorkflowExecutionDescription:
    """The batch's execution; `BatchNotFound` when there is none."""
    try:
        return await batch_handle(client, batch_id).describe()
    except RPCError as error:
        if error.status not in (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT):
            raise
        raise errors.batch_not_found(batch_id) from None


async def is_open(client: Client, batch_id: str) -> bool:
    """Whether the batch is under way; `BatchNotFound` when there is none."""
    description = await describe_batch(client, batch_id)
    return description.status is WorkflowExecutionStatus.RUNNING


async def batch_request(client: Client, batch_id: str) -> BatchRequest:
    """What was asked of the batch's latest run; `BatchNotFound` when there is none."""
    try:
        async for event in batch_handle(client, batch_id).fetch_history_events(page_size=1):
            payloads = event.workflow_execution_started_event_attributes.input.payloads
            [run] = await client.data_converter.decode(payloads, [BatchRun])
            assert isinstance(run, BatchRun), "a batch is started with its run"
            return run.request()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    raise errors.batch_not_found(batch_id)


async def check_batch_owner(client: Client, batch_id: str, caller: Caller) -> BatchRequest:
    """What was asked of the batch; refused to a caller who does not own it."""
    request = await batch_request(client, batch_id)
    if not may_change(owner=request.user_id, caller=caller.user_id):
        raise errors.not_owner_of_batch(batch_id)
    return request
