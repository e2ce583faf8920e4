"""Asking Temporal about jobs: start, attach, status, result."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
)
from temporalio.common import (
    Priority,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.carried import DocumentRun
from quire.contracts.codes import Code, ErrorInfo
from quire.contracts.document import DocumentRequest
from quire.contracts.names import STARTED_MEMO, WORKFLOW_QUEUE, workflow_id
from quire.contracts.results import DocumentResult
from quire.contracts.status import BreakerStatus, DocumentStatus, PageRange, PageTexts
from quire.domain import errors
from quire.domain.errors import DocumentRefused, JobError, QuireError
from quire.temporal.search_attributes import absent_search_attributes
from workflows.document.details import render_request
from workflows.document.workflow import DocumentWorkflow

Handle = WorkflowHandle[DocumentWorkflow, DocumentResult]
# A question to a lost worker waits for it ten seconds and then goes to another, in the midst of
# what happened meanwhile (see workflows/whole_tasks.py): ours are withdrawn before that.
ASK = timedelta(seconds=4)
ASK_TIMES = 5
NOBODY_ANSWERED = {
    RPCStatusCode.CANCELLED,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.FAILED_PRECONDITION,
}


@dataclass(frozen=True)
class View:
    """A job as the live view shows it."""

    status: DocumentStatus
    breakers: list[BreakerStatus]
    # One letter a page, see `domain/showing.py`.
    grid: str = ""


def handle_of(client: Client, job_id: str) -> Handle:
    return client.get_workflow_handle_for(DocumentWorkflow.run, workflow_id(job_id))


async def start(client: Client, request: DocumentRequest, engine: str | None) -> Handle:
    """Start the job; attach when it runs already, or hand back the finished one.

    A job that failed may be started again under its id; `force` starts anew whatever there is.
    """
    if request.force:
        conflict = WorkflowIDConflictPolicy.TERMINATE_EXISTING
        return await _start(client, request, engine, conflict)
    try:
        return await _start(
            client,
            request,
            engine,
            WorkflowIDConflictPolicy.USE_EXISTING,
            WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        )
    except WorkflowAlreadyStartedError:
        return handle_of(client, request.job_id)


async def start_anew(client: Client, request: DocumentRequest, engine: str | None) -> Handle:
    """A new run of a job that has ended."""
    return await _start(client, request, engine, WorkflowIDConflictPolicy.FAIL)


async def _start(
    client: Client,
    request: DocumentRequest,
    engine: str | None,
    conflict: WorkflowIDConflictPolicy,
    reuse: WorkflowIDReusePolicy = WorkflowIDReusePolicy.ALLOW_DUPLICATE,
) -> Handle:
    attributes = {
        "QuireStatus": "running",
        "QuireEngine": engine or "default",
        "QuireUser": request.user_id,
    }
    try:
        return await client.start_workflow(
            DocumentWorkflow.run,
            DocumentRun.of(request),
            id=workflow_id(request.job_id),
            task_queue=WORKFLOW_QUEUE,
            id_conflict_policy=conflict,
            id_reuse_policy=reuse,
            search_attributes=TypedSearchAttributes(
                [
                    SearchAttributePair(SearchAttributeKey.for_keyword(name), value or "-")
                    for name, value in attributes.items()
                ]
            ),
            memo={STARTED_MEMO: datetime.now(UTC).isoformat()},
            static_summary=f"{request.source_name} ({engine})" if engine else request.source_name,
            static_details=render_request(request, engine),
            # Where the server shares queues fairly, each owner gets the same part of the slots.
            priority=Priority(fairness_key=_cut(request.user_id)),
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        if absent := await absent_search_attributes(client):
            raise errors.search_attributes_missing(client.namespace, absent) from None
        raise


def _cut(owner: str) -> str | None:
    """As much of an owner's id as a fairness key may hold."""
    return owner.encode()[:64].decode(errors="ignore") or None


async def request_of(client: Client, job_id: str) -> DocumentRequest:
    """What the job's latest run was asked for."""
    handle = handle_of(client, job_id)
    async for event in handle.fetch_history_events(page_size=1):
        payloads = event.workflow_execution_started_event_attributes.input.payloads
        [run] = await client.data_converter.decode(payloads, [DocumentRun])
        return run.request() if isinstance(run, DocumentRun) else DocumentRequest(**run)
    raise no_such_job(job_id)


async def result_of(handle: Handle) -> DocumentResult:
    """The job's result; `DocumentRefused` when there was no document."""
    try:
        return await handle.result()
    except WorkflowFailureError as error:
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.details:
            info = ErrorInfo.model_validate(cause.details[0])
            raise DocumentRefused.from_info(info) from None
        raise QuireError(
            Code.UNKNOWN,
            "ENDED",
            f"The job was ended from outside ({type(cause).__name__}).",
            "Start it again under its job id.",
            "retryable",
        ) from None


async def describe(client: Client, job_id: str) -> WorkflowExecutionDescription:
    """The job's execution, or `JobError` when there is none."""
    try:
        return await handle_of(client, job_id).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise no_such_job(job_id) from None


def no_such_job(job_id: str) -> JobError:
    return JobError(
        Code.EXPIRED,
        "NO_SUCH_JOB",
        f"There is no job {job_id!r}, or its history has expired.",
        "Check the id with: starter.py list",
    )


async def status_of(client: Client, job_id: str) -> DocumentStatus:
    """The progress contract of a job."""
    await describe(client, job_id)
    for _ in range(ASK_TIMES):
        try:
            return await handle_of(client, job_id).query(DocumentWorkflow.status, rpc_timeout=ASK)
        except WorkflowQueryFailedError as error:
            raise QuireError(
                Code.UNKNOWN,
                "NO_ANSWER",
                f"The job cannot say how it stands: {error.message.rstrip('.')}.",
                "See its history in Temporal's Web UI; begin anew with: starter.py process --force",
            ) from None
        except RPCError as error:
            # Whoever takes a lost worker's documents over replays this one first.
            if error.status not in NOBODY_ANSWERED:
                raise
    raise no_worker(job_id)


def no_worker(job_id: str) -> QuireError:
    return QuireError(
        Code.IO_ERROR,
        "NO_WORKER",
        f"No worker answers for job {job_id!r}: none serves the queue {WORKFLOW_QUEUE!r} just now.",
        "Start one with: worker.py (starter.py doctor says what is there).",
        "retryable",
    )


async def view_of(handle: Handle) -> View | None:
    """Status and breakers for the live view; None when no worker answers just now."""
    try:
        status = await handle.query(DocumentWorkflow.status, rpc_timeout=ASK)
        breakers = await handle.query(DocumentWorkflow.breakers, rpc_timeout=ASK)
        grid = await handle.query(DocumentWorkflow.grid, rpc_timeout=ASK)
        return View(status, breakers, grid)
    except (RPCError, WorkflowQueryFailedError):
        return None


async def texts_of(handle: Handle, first: int) -> PageTexts | None:
    """Where the next finished pages have their text; None when no worker answers just now."""
    try:
        return await handle.query(DocumentWorkflow.texts, PageRange(first=first), rpc_timeout=ASK)
    except (RPCError, WorkflowQueryFailedError):
        return None


async def result_when_ready(client: Client, job_id: str) -> DocumentResult:
    """The result of a finished job; `NOT_READY` while it runs."""
    description = await describe(client, job_id)
    if description.status is WorkflowExecutionStatus.RUNNING:
        raise JobError(
            Code.NOT_READY,
            "RUNNING",
            f"Job {job_id!r} is still running.",
            f"Follow it with: starter.py watch {job_id}",
            "retryable",
        )
    return await result_of(handle_of(client, job_id))
