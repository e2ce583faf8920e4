"""Starts a batch: its list of sources goes into the store, and then its workflow begins."""

from collections.abc import Sequence
from datetime import UTC, datetime

from temporalio.client import WorkflowExecutionStatus
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from quire.app.parts import open_store, plan_defaults
from quire.contracts.batch import BatchRequest, SourceItem
from quire.contracts.batch_steps import BatchRun
from quire.contracts.names import NAME_MEMO, STARTED_MEMO, batch_workflow_id
from quire.domain import errors
from quire.domain.document.plan import refuse_unusable_engine
from quire.jobs.batch.handles import Handle, batch_handle, describe_batch
from quire.jobs.session import Jobs
from quire.settings import Settings
from quire.store.batches import BatchStore
from quire.temporal import search_attributes
from quire.temporal.document_start import priority_of
from quire.temporal.search_attributes import absent_search_attributes
from workflows.batch.details import render_request
from workflows.batch.workflow import BatchWorkflow


def check_engines(settings: Settings, engines: Sequence[str | None]) -> None:
    """Refuse an engine that cannot be called, before anything is started."""
    defaults = plan_defaults(settings)
    for engine in dict.fromkeys(engines):
        refuse_unusable_engine(engine, defaults)


async def submit_batch(jobs: Jobs, request: BatchRequest, items: Sequence[SourceItem]) -> Handle:
    """Start the batch; `BatchConflict` when there is one of its id."""
    if await _is_taken(jobs, request.batch_id):
        raise errors.batch_exists(request.batch_id)
    await BatchStore(open_store(jobs.settings)).write_sources(request.batch_id, items)
    return await start_batch(jobs, request)


async def start_batch(jobs: Jobs, request: BatchRequest, *, again: bool = False) -> Handle:
    """Start the workflow: for the first time, or `again` when it has ended."""
    reuse = WorkflowIDReusePolicy
    try:
        await jobs.client.start_workflow(
            BatchWorkflow.run,
            BatchRun.of(request),
            id=batch_workflow_id(request.batch_id),
            task_queue=jobs.queue,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            id_reuse_policy=reuse.ALLOW_DUPLICATE if again else reuse.REJECT_DUPLICATE,
            search_attributes=TypedSearchAttributes(
                [
                    SearchAttributePair(search_attributes.STATUS, "running"),
                    SearchAttributePair(search_attributes.USER, request.user_id or "-"),
                    SearchAttributePair(search_attributes.BATCH, request.batch_id),
                ]
            ),
            memo={STARTED_MEMO: datetime.now(UTC).isoformat(), NAME_MEMO: request.name},
            static_summary=request.name or request.batch_id,
            static_details=render_request(request),
            priority=priority_of(request.user_id, in_batch=False),
        )
    except WorkflowAlreadyStartedError:
        raise errors.batch_exists(request.batch_id) from None
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        if absent := await absent_search_attributes(jobs.client):
            raise errors.search_attributes_missing(jobs.client.namespace, absent) from None
        raise
    return batch_handle(jobs.client, request.batch_id)


async def _is_taken(jobs: Jobs, batch_id: str) -> bool:
    try:
        found = await describe_batch(jobs.client, batch_id)
    except errors.BatchNotFound:
        return False
    return found.status is not WorkflowExecutionStatus.FAILED
