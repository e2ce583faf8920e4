"""Whether a worker has said that a run's present task fails, by the end of its history."""

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import Client

from quire.temporal.task_runner import DiscardedRunError

# Of a history's end; the first of failures in a row stands there, and no later one.
LAST_EVENTS = 20
TASK_FAILED = EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
TASK_ENDS = (
    TASK_FAILED,
    EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
)


async def is_told_to_fail(client: Client, execution: WorkflowExecution) -> bool:
    """Whether a worker has said that the present task fails, and not only to have it again."""
    page = await client.workflow_service.get_workflow_execution_history_reverse(
        GetWorkflowExecutionHistoryReverseRequest(
            namespace=client.namespace,
            execution=execution,
            maximum_page_size=LAST_EVENTS,
        )
    )
    ends = [event for event in page.history.events if event.event_type in TASK_ENDS]
    if not ends or ends[0].event_type != TASK_FAILED:
        return False
    failure = ends[0].workflow_task_failed_event_attributes.failure
    return failure.application_failure_info.type != DiscardedRunError.__name__
