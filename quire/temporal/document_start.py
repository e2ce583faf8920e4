"""Starts a document's workflow: the one place that says how, for the tool and for batches."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.common import (
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.carried import DocumentRun
from quire.contracts.document import DocumentRequest
from quire.contracts.names import (
    BATCH_PRIORITY,
    DEADLINE_MEMO,
    NAME_MEMO,
    STARTED_MEMO,
    TAKE_MEMO,
    workflow_id,
)
from quire.contracts.results import DocumentResult
from quire.domain import errors
from quire.domain.document.details import render_request
from quire.domain.document.stuck import execution_timeout_s
from quire.temporal import search_attributes
from quire.temporal.search_attributes import absent_search_attributes

WORKFLOW = "DocumentWorkflow"


@dataclass(frozen=True)
class InBatch:
    """The batch that a document belongs to, and how often it was retried with it."""

    batch_id: str
    take: int = 0


async def start_document(
    client: Client,
    request: DocumentRequest,
    engine: str | None,
    *,
    queue: str,
    conflict: WorkflowIDConflictPolicy = WorkflowIDConflictPolicy.FAIL,
    reuse: WorkflowIDReusePolicy = WorkflowIDReusePolicy.ALLOW_DUPLICATE,
    batch: InBatch | None = None,
) -> WorkflowHandle[Any, DocumentResult]:
    """Start the workflow; `WorkflowAlreadyStartedError` where the policies forbid it."""
    try:
        return await client.start_workflow(
            WORKFLOW,
            DocumentRun.of(request),
            id=workflow_id(request.job_id),
            task_queue=queue,
            result_type=DocumentResult,
            id_conflict_policy=conflict,
            id_reuse_policy=reuse,
            search_attributes=_attributes(request, engine, batch),
            memo={
                STARTED_MEMO: datetime.now(UTC).isoformat(),
                NAME_MEMO: request.source_name,
                **({DEADLINE_MEMO: request.deadline_s} if request.deadline_s else {}),
                **({TAKE_MEMO: batch.take} if batch and batch.take else {}),
            },
            execution_timeout=timedelta(seconds=execution_timeout_s(request.deadline_s)),
            static_summary=f"{request.source_name} ({engine})" if engine else request.source_name,
            static_details=render_request(request, engine),
            priority=priority_of(request.user_id, in_batch=batch is not None),
            # A worker starts the documents of batches: its own first task it need not wait for.
            request_eager_start=batch is not None,
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        if absent := await absent_search_attributes(client):
            raise errors.search_attributes_missing(client.namespace, absent) from None
        raise


def priority_of(owner: str, *, in_batch: bool) -> Priority:
    """Where the server shares queues fairly, each owner gets an equal part of the slots; single
    documents, for which somebody waits, go before those of batches."""
    return Priority(priority_key=BATCH_PRIORITY if in_batch else None, fairness_key=_cut(owner))


def _attributes(
    request: DocumentRequest, engine: str | None, batch: InBatch | None
) -> TypedSearchAttributes:
    pairs = [
        SearchAttributePair(search_attributes.STATUS, "running"),
        SearchAttributePair(search_attributes.ENGINE, engine or "default"),
        SearchAttributePair(search_attributes.USER, request.user_id or "-"),
    ]
    if batch is not None:
        pairs.append(SearchAttributePair(search_attributes.BATCH, batch.batch_id))
    return TypedSearchAttributes(pairs)


def _cut(owner: str) -> str | None:
    """As much of an owner's id as a fairness key may hold."""
    return owner.encode()[:64].decode(errors="ignore") or None
