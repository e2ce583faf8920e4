"""The documents of batches: started, awaited and stopped by a worker's own client.

They are no children of the batch's workflow: children end with the run that started them, and a
batch goes through many runs.
"""

from collections.abc import Callable
from typing import Any

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.document import CancelRequest, DocumentRequest
from quire.contracts.money import NOTHING, Paid
from quire.contracts.names import TAKE_MEMO, document_job_id, workflow_id
from quire.contracts.results import DocumentResult
from quire.domain import errors
from quire.domain.batch.sources import as_retry
from quire.domain.document.ownership import may_change
from quire.domain.document.request_differences import differences
from quire.temporal import search_attributes
from quire.temporal.document_end import document_result
from quire.temporal.document_start import InBatch, start_document
from quire.temporal.open_documents import begun_by

Handle = WorkflowHandle[Any, DocumentResult]


class ServerDocuments:
    """Starts each document once, however often it is asked to. `engine_of` names the provider of
    the first route, for lists;
    `queue` is where the batch's own workflow is."""

    def __init__(
        self, client: Client, engine_of: Callable[[DocumentRequest], str], queue: str
    ) -> None:
        self._client = client
        self._queue = queue
        self._engine_of = engine_of

    async def start(self, request: DocumentRequest, batch_id: str, take: int) -> None:
        """Start the document, or find it started."""
        reuse = WorkflowIDReusePolicy.REJECT_DUPLICATE
        if not request.job_id.startswith(document_job_id(batch_id, 0)[:-5]):
            # A manifest named the job: one that failed before this batch is read again.
            reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY
        if take:
            known = await self._retried(request, take)
            if known is None:
                return
            request, reuse = known, WorkflowIDReusePolicy.ALLOW_DUPLICATE
        try:
            await start_document(
                self._client,
                request,
                self._engine_of(request),
                queue=self._queue,
                reuse=reuse,
                batch=InBatch(batch_id, take),
            )
        except WorkflowAlreadyStartedError:
            await self._check_own(request)

    async def _retried(self, request: DocumentRequest, take: int) -> DocumentRequest | None:
        """The request of a retry; None where it has been started already."""
        try:
            latest = await self._handle(request.job_id).describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return request
        started = await latest.memo_value(TAKE_MEMO, default=0)
        if isinstance(started, int) and started >= take:
            return None
        if latest.status is WorkflowExecutionStatus.RUNNING:
            return None
        done = latest.status is WorkflowExecutionStatus.COMPLETED
        return as_retry(request) if done else request

    async def _check_own(self, request: DocumentRequest) -> None:
        """Refuse unless the job under this id was asked for the same, by the same owner."""
        existing = await self._request_of(request.job_id)
        if existing is None:
            return
        if not may_change(owner=existing.user_id, caller=request.user_id):
            raise errors.job_id_taken(request.job_id, "it belongs to someone else")
        if different := differences(existing, request):
            raise errors.job_id_taken(request.job_id, "; ".join(map(str, different)))

    async def _request_of(self, job_id: str) -> DocumentRequest | None:
        try:
            async for event in self._handle(job_id).fetch_history_events(page_size=1):
                begun = await begun_by(self._client, event)
                return None if begun is None else begun.request()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        return None

    async def result(self, job_id: str) -> DocumentResult:
        """Its result once it is done; `JobNotFound` where its history is gone."""
        try:
            return await document_result(self._handle(job_id))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            raise errors.job_not_found(job_id) from None

    async def paid(self, job_id: str) -> Paid:
        """What a document without a result cost."""
        try:
            found = (await self._handle(job_id).describe()).typed_search_attributes
        except RPCError:
            return NOTHING
        tokens = found.get(search_attributes.TOKENS)
        # Tokens without a price: the price is unknown.
        cost = found.get(search_attributes.COST_USD)
        return Paid.of(tokens or 0, 0, cost if tokens else 0.0)

    async def stop(self, job_id: str, user_id: str) -> None:
        """Have it stop with what it has; one that has ended is left alone."""
        try:
            await self._handle(job_id).signal("cancel", CancelRequest(user_id=user_id))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise

    def _handle(self, job_id: str) -> Handle:
        return self._client.get_workflow_handle(workflow_id(job_id), result_type=DocumentResult)
