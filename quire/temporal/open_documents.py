"""Finds out from the server which documents are open, and what they need of the store.

Their histories are read, and no worker is asked: none may be running.
"""

import asyncio
from dataclasses import dataclass

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.carried import DocumentRun
from quire.contracts.names import WORKFLOW_ID_PREFIX, workflow_id
from quire.contracts.steps import DocumentReceipt, PreviousReceipt
from quire.domain.document.open_documents import OpenDocuments
from quire.domain.document.origin import STORED

_OPEN = "WorkflowType = 'DocumentWorkflow' AND ExecutionStatus = 'Running'"
_AT_ONCE = 16
# The activities whose results name the document.
_INGEST, _PREVIOUS = "ingest_source", "load_previous"


async def find_open_documents(client: Client) -> OpenDocuments:
    """Every document that is not done."""
    runs = [run async for run in client.list_workflows(_OPEN)]
    found: set[str] = set()
    for start in range(0, len(runs), _AT_ONCE):
        several = (_documents_of(client, run) for run in runs[start : start + _AT_ONCE])
        found.update(*await asyncio.gather(*several))
    jobs = frozenset(run.id.removeprefix(WORKFLOW_ID_PREFIX) for run in runs)
    return OpenDocuments(jobs, frozenset(found))


async def _documents_of(client: Client, run: WorkflowExecution) -> set[str]:
    """The document of one run, from the beginning of its history."""
    handle = client.get_workflow_handle(run.id, run_id=run.run_id)
    found: set[str] = set()
    scheduled: dict[int, str] = {}
    try:
        async for event in handle.fetch_history_events(page_size=100):
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
                known = await _at_start(client, event)
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
                name = event.activity_task_scheduled_event_attributes.activity_type.name
                scheduled[event.event_id] = name
                continue
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                known = await _at_result(client, event, scheduled)
            else:
                continue
            found |= known.documents
            if known.settled:
                break
    except RPCError as error:
        # It ended since the list was made.
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    return found


@dataclass(frozen=True)
class _Known:
    """What an event says of the document; `settled` when no later one says more."""

    documents: frozenset[str] = frozenset()
    settled: bool = False


async def _begun(client: Client, event: HistoryEvent) -> DocumentRun | None:
    """How the run began, without fields of later versions; None when no version could read it: such
    a run has no document."""
    payloads = event.workflow_execution_started_event_attributes.input.payloads
    try:
        [given] = await client.data_converter.decode(payloads)
        return DocumentRun.model_validate(
            {name: given[name] for name in DocumentRun.model_fields if name in given}
        )
    except (ValueError, LookupError, TypeError):
        return None


async def _at_start(client: Client, event: HistoryEvent) -> _Known:
    run = await _begun(client, event)
    if run is None:
        return _Known()
    if run.carried is not None:
        return _Known(frozenset({run.carried.source.sha256}), settled=True)
    stored = run.source.startswith(STORED)
    return _Known(frozenset({run.source.removeprefix(STORED)} if stored else ()))


async def _at_result(client: Client, event: HistoryEvent, scheduled: dict[int, str]) -> _Known:
    source = await _receipt(client, event, scheduled)
    return _Known() if source is None else _Known(frozenset({source.sha256}), settled=True)


async def _receipt(
    client: Client, event: HistoryEvent, scheduled: dict[int, str]
) -> DocumentReceipt | None:
    done = event.activity_task_completed_event_attributes
    name = scheduled.get(done.scheduled_event_id)
    if name not in (_INGEST, _PREVIOUS):
        return None
    kind = DocumentReceipt if name == _INGEST else PreviousReceipt
    [receipt] = await client.data_converter.decode(done.result.payloads, [kind])
    return receipt if isinstance(receipt, DocumentReceipt) else receipt.source


async def fetched_document(client: Client, job_id: str) -> DocumentReceipt | None:
    """The document that a job's latest run has fetched; None when it has not."""
    handle = client.get_workflow_handle(workflow_id(job_id))
    scheduled: dict[int, str] = {}
    async for event in handle.fetch_history_events(page_size=100):
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            run = await _begun(client, event)
            if run is not None and run.carried is not None:
                return run.carried.source
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            name = event.activity_task_scheduled_event_attributes.activity_type.name
            scheduled[event.event_id] = name
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            found = await _receipt(client, event, scheduled)
            if found is not None:
                return found
    return None
