"""Submits a document: prepares its request and starts its job."""

from datetime import UTC, datetime

from temporalio.client import Client
from temporalio.common import (
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from quire.app import plan_defaults, seal_password
from quire.contracts.carried import DocumentRun
from quire.contracts.document import DocumentRequest
from quire.contracts.names import NAME_MEMO, STARTED_MEMO, WORKFLOW_QUEUE, workflow_id
from quire.domain import errors
from quire.domain.document.details import render_request
from quire.domain.document.plan import make_plan, refuse_unusable_engine
from quire.jobs.access import Caller, check_owner
from quire.jobs.handles import Handle, handle_of, request_of
from quire.jobs.origins import Given, with_origin
from quire.jobs.session import Jobs
from quire.settings import Settings
from quire.temporal import search_attributes
from quire.temporal.search_attributes import absent_search_attributes
from workflows.document.workflow import DocumentWorkflow


async def prepare_request(
    settings: Settings, request: DocumentRequest, given: Given, password: str | None
) -> DocumentRequest:
    """The request, ready to leave this process: document reachable, password sealed."""
    refuse_unusable_engine(request.engine, plan_defaults(settings))
    if password is not None:
        sealed = seal_password(settings, password, request.job_id)
        request = request.model_copy(update={"sealed_password": sealed})
    return await with_origin(settings, request, given)


def _refuse_broken_text(request: DocumentRequest) -> None:
    """Refuse text that is no Unicode, such as half of a surrogate pair: it cannot be sent."""
    for name, value in request:
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                raise errors.broken_text(name) from None


async def submit(jobs: Jobs, request: DocumentRequest) -> Handle:
    """Start the job; if it is running or finished already, return that one.

    A job that failed is started again under its id; with `force`, so is any other. All of that
    is for the job's owner alone.
    """
    _refuse_broken_text(request)
    await _refuse_foreign(jobs, request)
    engine = _engine(jobs.settings, request)
    if request.force:
        conflict = WorkflowIDConflictPolicy.TERMINATE_EXISTING
        return await _start(jobs.client, request, engine, conflict)
    try:
        return await _start(
            jobs.client,
            request,
            engine,
            WorkflowIDConflictPolicy.USE_EXISTING,
            WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        )
    except WorkflowAlreadyStartedError:
        return handle_of(jobs.client, request.job_id)


async def _refuse_foreign(jobs: Jobs, request: DocumentRequest) -> None:
    """Refuse a job id that belongs to someone else's job, running or ended."""
    try:
        existing = await request_of(jobs.client, request.job_id)
    except errors.JobNotFound:
        return
    check_owner(existing, Caller(request.user_id))


async def submit_again(jobs: Jobs, request: DocumentRequest) -> Handle:
    """A new run of a job that has ended."""
    engine = _engine(jobs.settings, request)
    return await _start(jobs.client, request, engine, WorkflowIDConflictPolicy.FAIL)


def _engine(settings: Settings, request: DocumentRequest) -> str | None:
    """The provider of the first route, for lists and the Web UI; None where only the workers of a
    cluster know it, which set it once there is a plan."""
    if settings.cluster:
        return request.engine
    return make_plan(request, plan_defaults(settings)).engine


async def _start(
    client: Client,
    request: DocumentRequest,
    engine: str | None,
    conflict: WorkflowIDConflictPolicy,
    reuse: WorkflowIDReusePolicy = WorkflowIDReusePolicy.ALLOW_DUPLICATE,
) -> Handle:
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
                    SearchAttributePair(search_attributes.STATUS, "running"),
                    SearchAttributePair(search_attributes.ENGINE, engine or "default"),
                    SearchAttributePair(search_attributes.USER, request.user_id or "-"),
                ]
            ),
            memo={
                STARTED_MEMO: datetime.now(UTC).isoformat(),
                NAME_MEMO: request.source_name,
            },
            static_summary=f"{request.source_name} ({engine})" if engine else request.source_name,
            static_details=render_request(request, engine),
            # Where the server shares queues fairly, each owner gets an equal part of the slots.
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
