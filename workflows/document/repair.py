"""Makes again what vanished from the store while the document is read: its brief, its bytes."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.document.ingest import IngestSource
    from activities.document.plan import PlanDocument
    from quire.contracts.carried import Carried
    from quire.contracts.codes import Code, ErrorInfo
    from quire.contracts.document import DocumentRequest
    from quire.contracts.names import DOCUMENTS_QUEUE
    from quire.contracts.plan import DocumentPlan
    from quire.contracts.steps import DocumentReceipt
    from quire.contracts.stored import Brief
    from quire.domain.errors import QuireError, SourceGone, StoredObjectGone
    from workflows.document import options
    from workflows.document.healed import healed_memo, taken_over_by
    from workflows.document.stop import StopState

# Where objects keep vanishing, something removes them: the document ends with what it has.
MOST_REPAIRS = 3


async def ingest_source(request: DocumentRequest) -> DocumentReceipt:
    """Bring the document into the store."""
    return await workflow.execute_activity_method(
        IngestSource.ingest_source,
        request,
        task_queue=DOCUMENTS_QUEUE,
        start_to_close_timeout=options.DOCUMENT_STEP,
        heartbeat_timeout=options.HEARTBEAT,
        retry_policy=options.STEADY,
        cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
        summary="fetch, check and store the document",
    )


async def write_brief(request: DocumentRequest, plan: DocumentPlan, source: DocumentReceipt) -> str:
    """Store what all attempts have in common; returns its name."""
    return await workflow.execute_local_activity_method(
        PlanDocument.write_brief,
        Brief(
            job_id=request.job_id,
            sha256=source.sha256,
            page_count=source.page_count,
            reading=plan.reading,
            routes=tuple((r.provider, r.model, r.timeout_s) for r in plan.chain.routes),
            stand_down=plan.breaker.trip != "window",
            adaptive=plan.breaker.trip == "adaptive",
            kind=source.kind,
            sealed_password=request.sealed_password,
            replaced=taken_over_by(request, healed_memo()),
        ),
        start_to_close_timeout=options.LOCAL,
        retry_policy=options.STEADY,
        summary="write down what all attempts have in common",
    )


def gone_object(error: ActivityError) -> StoredObjectGone | None:
    """What an attempt lacked in the store, if that is why it ended."""
    cause = error.cause
    if not isinstance(cause, ApplicationError) or cause.type != Code.IO_ERROR or not cause.details:
        return None
    failure = QuireError.from_info(ErrorInfo.model_validate(cause.details[0]))
    return failure if isinstance(failure, StoredObjectGone) else None


class Repair:
    """The repairs of one run. Attempts that began before the last one say nothing new."""

    def __init__(self, request: DocumentRequest, carried: Carried, stop: StopState) -> None:
        self._request = request
        self._carried = carried
        self._stop = stop
        self._brief_gone = False
        self._source_gone = False
        self._in_vain = False
        self.brief = carried.brief
        self.done = 0

    @property
    def due(self) -> bool:
        """Whether something is to be made again."""
        return self._brief_gone or self._source_gone

    def accept(self, gone: StoredObjectGone, begun_at: int) -> bool:
        """Whether the attempt's page should be tried again after a repair; `begun_at` is how many
        were done when the attempt began."""
        if self._in_vain:
            return False
        if begun_at < self.done:
            return True
        if self.done == MOST_REPAIRS:
            return False
        if isinstance(gone, SourceGone):
            self._source_gone = True
        else:
            self._brief_gone = True
        return True

    async def run(self) -> None:
        """Write the brief again, fetch the document again: whichever is missing."""
        brief, source = self._brief_gone, self._source_gone
        self._brief_gone = self._source_gone = False
        self.done += 1
        workflow.logger.warning("store_repair", extra={"brief": brief, "document": source})
        carried = self._carried
        try:
            if brief:
                self.brief = await write_brief(self._request, carried.plan, carried.source)
            if source:
                fetched = await self._fetch()
                self._in_vain = fetched is None or fetched.sha256 != carried.source.sha256
        except ActivityError:
            # Its origin no longer has the document, either: pages that need it fall back.
            self._in_vain = True

    async def _fetch(self) -> DocumentReceipt | None:
        fetching = asyncio.create_task(ingest_source(self._request))
        await workflow.wait_condition(lambda: fetching.done() or self._stop.requested)
        if fetching.done():
            return fetching.result()
        # How it ends no longer matters; unasked, asyncio would log it as an error.
        fetching.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        fetching.cancel()
        return None
