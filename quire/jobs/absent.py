"""Finds out what a job waits for that is missing, by asking the server about job and queues."""

from datetime import timedelta

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import (
    EventType,
    PendingActivityState,
    VersioningBehavior,
    WorkflowTaskFailedCause,
)
from temporalio.api.failure.v1 import Failure as WireFailure
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionResponse,
    GetWorkflowExecutionHistoryReverseRequest,
)
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError

from quire.contracts.names import WORKFLOW_QUEUE, route_queue, workflow_id
from quire.contracts.status import DocumentStatus
from quire.domain import errors
from quire.domain.errors import JobWaits, QuireError
from quire.domain.workers.absence import (
    DOES_NOT_FIT,
    Deployment,
    Failure,
    WaitingTask,
    what_is_missing,
)
from quire.jobs.handles import handle_of
from quire.jobs.result import wait_for_result
from quire.jobs.session import Jobs
from quire.temporal.deployment import DEPLOYMENT
from quire.temporal.queue_workers import queue_states

ASK_WITHIN = timedelta(seconds=3)
EVENTS_A_PAGE = 20
READ_PAGE = "recognize_page"
SCHEDULED = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
PINNED = VersioningBehavior.VERSIONING_BEHAVIOR_PINNED
NOT_REPEATED = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR
TASK_FAILED = EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED


async def missing_for(
    jobs: Jobs, job_id: str, status: DocumentStatus | None = None, *, late: bool = False
) -> list[JobWaits]:
    """What the job waits for that is missing; nothing when all is there, or the server does not
    say. Without a status, which no worker gave, only the workers that could give it count; once
    that is `late`, workers that are there are busy or stuck."""
    try:
        description = await handle_of(jobs.client, job_id).describe(rpc_timeout=ASK_WITHIN)
        raw = description.raw_description
        tasks = await _waiting_tasks(jobs.client, job_id, raw)
        if status is None:
            query = WaitingTask(WORKFLOW_QUEUE, raw.workflow_execution_info.type.name)
            tasks = [task for task in tasks if task.queue == WORKFLOW_QUEUE] or [query]
        else:
            tasks += _open_pages(status)
        states = await queue_states(jobs.client, {task.queue for task in tasks}) if tasks else {}
    except RPCError:
        # The words are about workers; a server that fails is another command's error.
        return []
    deployment = Deployment(DEPLOYMENT, _pinned(raw))
    missing = what_is_missing(tasks, states, deployment, tuple(jobs.settings.providers))
    if missing or status is not None or not late:
        return missing
    return [errors.workers_busy(job_id, len(states[WORKFLOW_QUEUE].live))]


async def why_unanswered(jobs: Jobs, job_id: str) -> QuireError:
    """Why no worker answers for the job: what is missing, that workers are busy, or that it has
    failed: one that failed as it began cannot be replayed for a query."""
    if failure := await failure_of(jobs.client, job_id):
        return failure
    missing = await missing_for(jobs, job_id, late=True)
    return missing[0] if missing else errors.temporal_silent("it does not describe the job")


async def failure_of(client: Client, job_id: str) -> QuireError | None:
    """The error of a job that has failed."""
    handle = handle_of(client, job_id)
    try:
        description = await handle.describe(rpc_timeout=ASK_WITHIN)
        if description.status is WorkflowExecutionStatus.FAILED:
            await wait_for_result(handle)
    except RPCError:
        pass
    except QuireError as error:
        return error
    return None


def _open_pages(status: DocumentStatus) -> list[WaitingTask]:
    """Pages go from route to route, and rest in between: they wait for each of them."""
    detail = status.progress_detail
    if not detail.waiting + detail.in_flight:
        return []
    routes = (route.partition(":") for route in detail.routes)
    return [WaitingTask(route_queue(provider, model), READ_PAGE) for provider, _, model in routes]


def _pinned(raw: DescribeWorkflowExecutionResponse) -> str:
    """The build to which the job is pinned, if it is."""
    info = raw.workflow_execution_info.versioning_info
    return info.deployment_version.build_id if info.behavior == PINNED else ""


async def _waiting_tasks(
    client: Client, job_id: str, raw: DescribeWorkflowExecutionResponse
) -> list[WaitingTask]:
    tasks: list[WaitingTask] = []
    if raw.HasField("pending_workflow_task"):
        attempt = raw.pending_workflow_task.attempt
        failure = await _task_failure(client, job_id) if attempt > 1 else None
        name = raw.workflow_execution_info.type.name
        tasks.append(WaitingTask(WORKFLOW_QUEUE, name, attempt, failure))
    for activity in raw.pending_activities:
        if activity.state == SCHEDULED:
            tasks.append(await _waiting_activity(client, activity))
    return tasks


async def _waiting_activity(client: Client, activity: PendingActivityInfo) -> WaitingTask:
    failed = activity.attempt > 1 and activity.HasField("last_failure")
    return WaitingTask(
        activity.activity_options.task_queue.name,
        activity.activity_type.name,
        activity.attempt,
        await _failure(client, activity.last_failure) if failed else None,
    )


async def _task_failure(client: Client, job_id: str) -> Failure | None:
    """Why the job's workflow task failed; history holds the first of failures in a row."""
    page = await client.workflow_service.get_workflow_execution_history_reverse(
        GetWorkflowExecutionHistoryReverseRequest(
            namespace=client.namespace,
            execution=WorkflowExecution(workflow_id=workflow_id(job_id)),
            maximum_page_size=EVENTS_A_PAGE,
        ),
        timeout=ASK_WITHIN,
    )
    for event in page.history.events:
        if event.event_type == TASK_FAILED:
            failed = event.workflow_task_failed_event_attributes
            if failed.cause == NOT_REPEATED:
                return Failure(DOES_NOT_FIT)
            return await _failure(client, failed.failure)
    return None


async def _failure(client: Client, failure: WireFailure) -> Failure:
    """Type and message; the message is left out where this process cannot decrypt it."""
    kind = failure.application_failure_info.type
    try:
        return Failure(kind, str(await client.data_converter.decode_failure(failure)))
    except Exception:
        # It was written by another process, with keys or types of its own.
        return Failure(kind)
