"""Submits a document: prepares its request and starts its job."""

from datetime import UTC, datetime, timedelta

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

from quire.app.parts import plan_defaults, seal_password
from quire.contracts.carried import DocumentRun
from quire.contracts.document import DocumentRequest
from quire.contracts.names import (
    DEADLINE_MEMO,
    NAME_MEMO,
    STARTED_MEMO,
    WORKFLOW_QUEUE,
    workflow_id,
)
from quire.domain import errors
from quire.domain.document.details import render_request
from quire.domain.document.plan import make_plan, refuse_unusable_engine
from quire.domain.document.request_differences import differences
from quire.domain.document.stuck import execution_timeout_s
from quire.jobs.bound_request import check_bound
from quire.jobs.handles import Handle, handle_of, is_running, replaced_run
from quire.jobs.origins import Given, with_origin
from quire.jobs.session import Jobs
from quire.settings import Settings
from quire.temporal import search_attributes
from quire.temporal.search_attributes import absent_search_attributes
from workflows.document.workflow import DocumentWorkflow

# How often a replacement looks again when another command starts the job meanwhile.
REPLACE_TRIES = 5
# Runs whose answers a replacement may take over: one replaced the other.
REPLACED_KEPT = 10


async def prepare_request(
    settings: Settings, request: DocumentRequest, given: Given, password: str | None
) -> DocumentRequest:
    """The request, ready to leave this process: document reachable, password sealed."""
    refuse_unusable_engine(request.engine, plan_defaults(settings))
    if password is not None:
        _refuse_broken("password", password)
        sealed = seal_password(settings, password, request.job_id)
        request = request.model_copy(update={"sealed_password": sealed})
    return await with_origin(settings, request, given)


def _refuse_broken(name: str, text: str) -> None:
    """Refuse text that is no Unicode, such as half of a surrogate pair: it cannot be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise errors.broken_text(name) from None


async def submit(jobs: Jobs, request: DocumentRequest, *, replace: bool = False) -> Handle:
    """Start the job; if it is running or finished already, return that one.

    A job that failed is started again under its id; with `force`, so is one that is done, and with
    `replace` too one that is running. All of that is for the job's owner alone, and without
    `force` for the same request only.
    """
    for name, value in request:
        if isinstance(value, str):
            _refuse_broken(name, value)
    engine = _engine(jobs.settings, request)
    if replace and request.force:
        return await _replace(jobs, request, engine)
    await check_bound(jobs, request, any_request=request.force)
    reuse = WorkflowIDReusePolicy
    once = reuse.ALLOW_DUPLICATE if request.force else reuse.ALLOW_DUPLICATE_FAILED_ONLY
    try:
        return await _start(jobs.client, request, engine, WorkflowIDConflictPolicy.FAIL, once)
    except WorkflowAlreadyStartedError:
        if request.force:
            raise errors.job_in_the_way(request.job_id) from None
        # Another command may have been quicker, with another request.
        await check_bound(jobs, request)
        return handle_of(jobs.client, request.job_id)


async def _replace(jobs: Jobs, request: DocumentRequest, engine: str | None) -> Handle:
    """Start the job, and end its run that is in the way, which must be the caller's."""
    for _ in range(REPLACE_TRIES):
        conflict = WorkflowIDConflictPolicy.FAIL
        existing = await check_bound(jobs, request, any_request=True)
        if existing is not None and await is_running(jobs.client, request.job_id):
            run = await replaced_run(jobs.client, existing)
            same = not differences(existing, request)
            earlier = [
                one.model_copy(update={"any_route": same and (one is run or one.any_route)})
                for one in (run, *existing.replaced)[:REPLACED_KEPT]
            ]
            request = request.model_copy(update={"replaced": tuple(earlier)})
            conflict = WorkflowIDConflictPolicy.TERMINATE_EXISTING
        try:
            return await _start(jobs.client, request, engine, conflict)
        except WorkflowAlreadyStartedError:
            # Someone has started it since it was looked at: whose is it?
            continue
    raise errors.job_in_the_way(request.job_id)


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
                **({DEADLINE_MEMO: request.deadline_s} if request.deadline_s else {}),
            },
            execution_timeout=timedelta(seconds=execution_timeout_s(request.deadline_s)),
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
