"""DocumentWorkflow: from an origin to its text, by its deadline."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.document.finalize import FinalizeDocument
    from activities.support.failures import refused
    from quire.contracts.carried import Carried, DocumentRun
    from quire.contracts.codes import ErrorInfo
    from quire.contracts.document import RetryResult
    from quire.contracts.results import DocumentResult
    from quire.contracts.status import (
        BreakerStatus,
        DocumentStatus,
        PageStatus,
        PageTexts,
    )
    from quire.contracts.steps import FinalizeRequest, ReuseReceipt
    from quire.domain import errors
    from quire.domain.document.keys import finished_id, reading_id
    from workflows.document import options, queries
    from workflows.document.attributes import attributes_of_failure, attributes_of_result
    from workflows.document.deadline import DeadlineTimer
    from workflows.document.dispatcher import Dispatcher
    from workflows.document.healed import healed_memo
    from workflows.document.outcomes import document_error
    from workflows.document.people import People, wanted_range, wanted_run
    from workflows.document.prepare import NoDocumentError, Preparation
    from workflows.document.progress import Phase
    from workflows.document.repair import Repair
    from workflows.document.reporter import Reporter
    from workflows.document.state import DocumentState
    from workflows.document.stop import StopState


@workflow.defn
class DocumentWorkflow:
    """Prepare, dispatch, finalize; and answer people all the while."""

    @workflow.init
    def __init__(self, request: DocumentRun | None = None) -> None:
        request = wanted_run(request)
        self._request = request.request()
        started = workflow.info().start_time.timestamp()
        self._state = DocumentState(request.job_id, started, healed_memo())
        self._stop = StopState()
        self._reporter = Reporter(self._request)
        self._deadline = DeadlineTimer(self._state, self._stop, self._reporter)
        self._dispatcher = Dispatcher(self._state, self._stop, self._reporter, self._deadline)
        self._people = People(
            self._request, self._state, self._stop, self._reporter, self._dispatcher
        )

    @workflow.run
    async def run(self, request: DocumentRun | None = None) -> DocumentResult:
        """Read the document, in one run or in several."""
        request = wanted_run(request)
        if request.carried is not None and not _continues_a_run():
            raise self._fail(errors.not_continued().info)
        reading = asyncio.create_task(self._read(request.carried))
        while not reading.done():
            try:
                await workflow.wait_condition(reading.done)
            except asyncio.CancelledError:
                # Temporal's own cancel, as from its Web UI: stop, and keep what is done.
                self._stop.cancelled = True
        try:
            end = reading.result()
        except ActivityError as error:
            raise self._fail(document_error(error)) from error
        except NoDocumentError as error:
            raise self._fail(error.info) from None
        if isinstance(end, Carried):
            workflow.continue_as_new(DocumentRun.of(request, end))
        return end

    # --- the document, step by step ----------------------------------------------------------

    async def _read(self, carried: Carried | None) -> DocumentResult | Carried:
        begins = carried is None
        if carried is None:
            self._reporter.run_began()
            prepare = Preparation(self._request, self._state, self._stop, self._reporter)
            plan = await prepare.plan()
            self._deadline.start(self._state.deadline or 0.0)
            prepared = await prepare.survey(plan)
            if isinstance(prepared, ReuseReceipt):
                self._deadline.cancel()
                self._state.pages.reuse(prepared)
                return self._done(prepared.result)
            carried = prepared
            self._reporter.retries_scheduled(len(carried.again), "person")
            if prepare.rest is not None:
                self._dispatcher.expect_survey(prepare.rest)
        else:
            self._deadline.start(carried.deadline)
        if carried.classes:
            self._state.pages.choose(self._request.pages, carried.source.page_count)
            self._state.take_up(carried, text_only=self._request.text_only)
            self._reporter.take_up(carried)
            if begins:
                self._deadline.adjust()
        try:
            return await self._dispatch_and_finalize(carried)
        finally:
            self._deadline.cancel()

    async def _dispatch_and_finalize(self, carried: Carried) -> DocumentResult | Carried:
        """Once; and again for every retry request that comes before the end."""
        while True:
            self._enter(Phase.DISPATCH)
            if self._state.pages.dispatch and await self._dispatcher.run(
                carried.plan, Repair(self._request, carried, self._stop)
            ):
                await workflow.wait_condition(workflow.all_handlers_finished)
                return self._reporter.carry(self._state.carry(carried))
            self._state.close(timed_out=self._stop.deadline_passed, cancelled=self._stop.cancelled)
            result = await self._finalize(carried)
            await workflow.wait_condition(workflow.all_handlers_finished)
            if self._state.pages.dispatch is None or self._state.pages.dispatch.finished:
                break
            self._state.version.begin_next()
        return self._done(result)

    def _enter(self, phase: Phase) -> None:
        self._state.progress.phase = phase
        self._reporter.phase_started(self._state, workflow.now().timestamp())

    async def _finalize(self, carried: Carried) -> DocumentResult:
        self._enter(Phase.FINALIZE)
        request = self._request
        return await workflow.execute_activity_method(
            FinalizeDocument.finalize_document,
            FinalizeRequest(
                job_id=request.job_id,
                source=request.source_name or request.source,
                sha256=carried.source.sha256,
                reading=reading_id(carried.plan.reading),
                user_id=request.user_id,
                page_count=carried.source.page_count,
                kind=carried.source.kind,
                surveyed=len(self._state.pages.letters),
                routes=self._state.route_keys,
                records=self._state.pages.records(),
                vision_pages=len(self._state.pages.vision),
                timeout_occurred=self._state.end.timed_out,
                cancelled=self._state.end.cancelled,
                version=self._state.version.number,
                changed_pages=self._state.version.changed_pages(),
                warnings=self._state.warnings,
                healed=self._state.healed.count,
                started_at=self._state.started_at,
                completed_at=workflow.now().isoformat(),
                origin=request.source,
                finished=finished_id(
                    carried.plan, self._state.pages.chosen, text_only=request.text_only
                ),
                sealed_password=request.sealed_password,
                doubt_below=self._state.doubt_below,
            ),
            start_to_close_timeout=options.DOCUMENT_STEP,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=options.STEADY,
            summary="merge the pages",
        )

    def _done(self, result: DocumentResult) -> DocumentResult:
        self._state.complete(workflow.now().timestamp(), result.message)
        meta = result.metadata
        self._reporter.completed(
            self._state,
            workflow.now().timestamp(),
            pages=meta.total_pages,
            fallback_pages=meta.pages_failed,
            tokens=meta.input_tokens + meta.output_tokens,
            cost_usd=meta.cost_usd,
        )
        workflow.upsert_search_attributes(attributes_of_result(meta, self._state.engine))
        return result

    def _fail(self, info: ErrorInfo) -> Exception:
        self._state.fail(info, workflow.now().timestamp())
        late = self._stop.deadline_passed and not self._stop.cancelled
        self._reporter.failed(self._state, info, workflow.now().timestamp(), timed_out=late)
        workflow.upsert_search_attributes(attributes_of_failure(self._state.progress.spent))
        return refused(info.model_copy(update={"error_type": "terminal"}))

    # --- what people ask: anything may come, see `people.py` ------------------------------------

    @workflow.query(description="Progress in percent and counts, errors by page. No input.")
    def status(self, *given: object) -> DocumentStatus:
        """The progress contract."""
        return queries.status(self._state)

    @workflow.query(
        description="Pages of a range: where each stands, where its text came from, last attempt, "
        'next try. Input {"first": 1, "last": 20}, or none for all pages.'
    )
    def pages(self, *given: object) -> list[PageStatus]:
        """Where each page of a range stands."""
        return queries.pages(self._state, wanted_range(given))

    @workflow.query(
        description="Routes and providers: breaker state, time to retry, in flight. No input."
    )
    def breakers(self, *given: object) -> list[BreakerStatus]:
        """Routes and providers as this document sees them."""
        return queries.breakers(self._state)

    @workflow.query(
        description="One letter a page: m, a, o, l, f, t by source, > in flight, . waiting. "
        "No input."
    )
    def grid(self, *given: object) -> str:
        """One letter a page."""
        return queries.grid(self._state)

    @workflow.query(
        description="Store keys of finished pages' texts, from a page on. "
        'Input {"first": 1}, or none for the first pages.'
    )
    def texts(self, *given: object) -> PageTexts:
        """Where the texts of finished pages are."""
        return queries.texts(self._state, wanted_range(given))

    # --- what people change -------------------------------------------------------------------

    @workflow.update(
        description="Read pages again: the named ones, or all degraded ones without `pages`. "
        'Input {"user_id": "anna", "pages": "3,5-7"}; the user_id is the owner\'s.'
    )
    def retry_pages(self, *given: object) -> RetryResult:
        """Have pages read again; the answer names them."""
        return RetryResult(pages=self._people.retry(given))

    @retry_pages.validator
    def _may_retry(self, *given: object) -> None:
        """Refuse a request that could do nothing."""
        self._people.check_retry(given)

    @workflow.signal(
        description="As the update retry_pages, without an answer. "
        'Input {"user_id": "anna", "pages": "3,5-7"}'
    )
    def retry(self, *given: object) -> None:
        """Have pages read again; a refusal is only logged."""
        self._people.retry(given, "retry")

    @workflow.update(
        description='Stop the document; what is done is kept. Input {"user_id": "anna"}, the owner'
    )
    def cancel_document(self, *given: object) -> None:
        """Stop the document and keep what is done."""
        self._people.cancel(given)

    @cancel_document.validator
    def _may_cancel(self, *given: object) -> None:
        """Refuse callers who do not own the document."""
        self._people.check_cancel(given)

    @workflow.signal(
        description='As the update cancel_document, without an answer. Input {"user_id": "anna"}'
    )
    def cancel(self, *given: object) -> None:
        """Stop the document; a refusal is only logged."""
        self._people.cancel(given, "cancel")

    @workflow.signal(dynamic=True)
    def other(self, name: str, given: Sequence[RawValue]) -> None:
        """A signal that there is not: the SDK would keep it for a handler that never comes."""
        self._people.refuse_unknown()


def _continues_a_run() -> bool:
    """Whether an earlier run handed over to this one. The server also names an earlier run where it
    repeats a start, by a retry policy or a schedule: such a run has the start's own input."""
    info = workflow.info()
    return info.continued_run_id is not None and info.attempt == 1 and not info.cron_schedule
