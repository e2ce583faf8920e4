"""DocumentWorkflow: from a source to its text, by its deadline."""

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.failures import refused
    from activities.finalize import FinalizeDocument
    from activities.ingest import IngestSource
    from activities.plan import PlanDocument
    from activities.recognize import RecognizePage
    from activities.reuse import ReuseResult
    from activities.select import select_routes
    from activities.survey import SurveyDocument
    from domain.contracts import (
        DOCUMENTS_QUEUE,
        AttemptReceipt,
        AttemptRequest,
        BreakerStatus,
        Brief,
        DocumentRequest,
        DocumentResult,
        DocumentStatus,
        FinalizeRequest,
        PageRange,
        PageStatus,
        ReuseReceipt,
        ReuseRequest,
        SourceReceipt,
        SurveyRequest,
        route_queue,
    )
    from domain.dispatch import Flight
    from domain.errors import Code, ErrorInfo
    from domain.keys import finished_id, reading_id
    from domain.plan import DocumentPlan
    from domain.progress import DocumentProgress
    from domain.selection import Assignment
    from workflows import options
    from workflows.outcomes import attempt_outcome, document_error

T = TypeVar("T")


@workflow.defn
class DocumentWorkflow:
    """One coroutine schedules; attempts run beside it and report what became of them."""

    @workflow.init
    def __init__(self, request: DocumentRequest) -> None:
        self._request = request
        self._progress = DocumentProgress(request.job_id, workflow.info().start_time.timestamp())
        self._deadline_passed = False
        self._wake: asyncio.Task[None] | None = None
        self._woken = False
        self._ended: list[tuple[int, AttemptReceipt | ActivityError]] = []
        self._attempts: dict[int, asyncio.Task[None]] = {}

    @workflow.run
    async def run(self, request: DocumentRequest) -> DocumentResult:
        try:
            return await self._read(request)
        except ActivityError as error:
            raise self._fail(document_error(error)) from error

    # --- the document, step by step ----------------------------------------------------------

    async def _read(self, request: DocumentRequest) -> DocumentResult:
        plan = await workflow.execute_local_activity_method(
            PlanDocument.plan_document,
            request,
            start_to_close_timeout=options.LOCAL,
            retry_policy=options.QUICK,
        )
        started = workflow.info().start_time
        deadline = started + timedelta(seconds=plan.deadline_s)
        self._progress.planned(plan, deadline.timestamp())
        alarm = asyncio.create_task(self._sound_alarm(deadline))
        source = await self._in_time(self._ingest(request))
        if source is None:
            raise self._fail(_too_late())
        if not self._progress.choose_pages(request.pages, source.page_count):
            raise self._fail(_no_such_page(request.pages or "", source.page_count))
        if not request.force:
            reused = await self._in_time(self._reuse(request, plan, source))
            if reused is not None:
                self._progress.reused(reused)
                return self._done(reused.result)
        await self._survey(request, plan, source)
        if self._progress.vision_pages and self._progress.dispatch is not None:
            await self._dispatch(plan, await self._brief(plan, source))
        self._progress.close(timed_out=self._deadline_passed)
        alarm.cancel()
        return await self._finalize(request, plan, source)

    async def _ingest(self, request: DocumentRequest) -> SourceReceipt:
        self._progress.phase = "ingest"
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

    async def _reuse(
        self, request: DocumentRequest, plan: DocumentPlan, source: SourceReceipt
    ) -> ReuseReceipt | None:
        return await workflow.execute_activity_method(
            ReuseResult.reuse_result,
            ReuseRequest(
                job_id=request.job_id,
                source=request.source_name or request.source,
                origin=request.source,
                sha256=source.sha256,
                finished=self._finished(request, plan),
                user_id=request.user_id,
                started_at=workflow.info().start_time.isoformat(),
            ),
            start_to_close_timeout=options.DOCUMENT_STEP,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=options.STEADY,
            summary="is there a stored result?",
        )

    def _finished(self, request: DocumentRequest, plan: DocumentPlan) -> str:
        return finished_id(plan, self._progress.chosen, text_only=request.text_only)

    async def _survey(
        self, request: DocumentRequest, plan: DocumentPlan, source: SourceReceipt
    ) -> None:
        self._progress.phase = "survey"
        survey = await self._in_time(
            workflow.execute_activity_method(
                SurveyDocument.survey_document,
                SurveyRequest(
                    job_id=request.job_id,
                    sha256=source.sha256,
                    page_count=source.page_count,
                    kind=source.kind,
                    sealed_password=request.sealed_password,
                ),
                task_queue=DOCUMENTS_QUEUE,
                start_to_close_timeout=options.DOCUMENT_STEP,
                heartbeat_timeout=options.HEARTBEAT,
                retry_policy=options.STEADY,
                cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
                summary=f"MuPDF text and class of {source.page_count} pages",
            )
        )
        if survey is not None:
            self._progress.surveyed(
                survey.classes, every_page=plan.every_page, text_only=request.text_only
            )

    async def _brief(self, plan: DocumentPlan, source: SourceReceipt) -> str:
        return await workflow.execute_local_activity_method(
            PlanDocument.write_brief,
            Brief(
                job_id=self._request.job_id,
                sha256=source.sha256,
                page_count=source.page_count,
                reading=plan.reading,
                routes=tuple((route.provider, route.model) for route in plan.chain.routes),
                stand_down=plan.breaker.trip == "first",
                kind=source.kind,
                sealed_password=self._request.sealed_password,
            ),
            start_to_close_timeout=options.LOCAL,
            retry_policy=options.STEADY,
        )

    async def _finalize(
        self, request: DocumentRequest, plan: DocumentPlan, source: SourceReceipt
    ) -> DocumentResult:
        self._progress.phase = "finalize"
        result = await workflow.execute_activity_method(
            FinalizeDocument.finalize_document,
            FinalizeRequest(
                job_id=request.job_id,
                source=request.source_name or request.source,
                sha256=source.sha256,
                reading=reading_id(plan.reading),
                user_id=request.user_id,
                routes=self._progress.route_keys,
                records=self._progress.records(),
                vision_pages=self._progress.vision_pages,
                timeout_occurred=self._progress.timed_out,
                warnings=self._progress.warnings,
                started_at=workflow.info().start_time.isoformat(),
                completed_at=workflow.now().isoformat(),
                origin=request.source,
                finished=self._finished(request, plan),
            ),
            start_to_close_timeout=options.DOCUMENT_STEP,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=options.STEADY,
            summary="merge the pages",
        )
        return self._done(result)

    def _done(self, result: DocumentResult) -> DocumentResult:
        self._progress.completed(workflow.now().timestamp())
        meta = result.metadata
        workflow.upsert_search_attributes(
            [
                SearchAttributeKey.for_keyword("QuireStatus").value_set("completed"),
                SearchAttributeKey.for_int("QuirePages").value_set(meta.total_pages),
                SearchAttributeKey.for_int("QuireFallbackPages").value_set(
                    meta.mupdf_fallback_count
                ),
                SearchAttributeKey.for_bool("QuireTimeout").value_set(meta.timeout_occurred),
            ]
        )
        return result

    # --- the scheduler -----------------------------------------------------------------------

    async def _dispatch(self, plan: DocumentPlan, brief: str) -> None:
        """Hand out pages until every one has ended, or the deadline has passed."""
        self._progress.phase = "dispatch"
        pages = self._progress.require_dispatch()
        while not pages.finished and not self._deadline_passed:
            if self._woken or pages.wants_selection():
                self._woken = False
                selection = await workflow.execute_local_activity(
                    select_routes,
                    pages.snapshot(workflow.now().timestamp()),
                    start_to_close_timeout=options.LOCAL,
                    retry_policy=options.QUICK,
                )
                for assignment, flight in pages.apply(selection):
                    self._begin(plan, brief, assignment, flight)
                self._look_again_at(selection.wake_at)
            if not pages.finished:
                await workflow.wait_condition(
                    lambda: bool(self._ended) or self._woken or self._deadline_passed
                )
            self._settle()
        self._look_again_at(None)
        for number in sorted(self._attempts):
            self._attempts[number].cancel()

    def _begin(
        self, plan: DocumentPlan, brief: str, assignment: Assignment, flight: Flight
    ) -> None:
        self._progress.current = assignment.page
        attempt = self._attempt(plan, brief, assignment, flight)
        self._attempts[assignment.page] = asyncio.create_task(attempt)

    async def _attempt(
        self, plan: DocumentPlan, brief: str, assignment: Assignment, flight: Flight
    ) -> None:
        route = plan.chain.routes[assignment.route]
        waits = assignment.how == "behind" or plan.dispatch.when_busy == "wait"
        try:
            end: AttemptReceipt | ActivityError = await workflow.execute_activity_method(
                RecognizePage.recognize_page,
                AttemptRequest(
                    brief=brief,
                    page=assignment.page,
                    route=assignment.route,
                    seconds=assignment.seconds,
                    begun_at=flight.begun_at,
                ),
                task_queue=route_queue(route.provider, route.model),
                start_to_close_timeout=timedelta(seconds=assignment.seconds)
                + options.ATTEMPT_MARGIN,
                schedule_to_start_timeout=None if waits else options.MOMENT,
                heartbeat_timeout=options.HEARTBEAT,
                retry_policy=options.ATTEMPT,
                cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
                summary=f"page {assignment.page} on {route.key}",
            )
        except ActivityError as error:
            end = error
        self._ended.append((assignment.page, end))

    def _settle(self) -> None:
        """Enter what became of attempts into the books, in the order in which they ended."""
        pages = self._progress.require_dispatch()
        now = workflow.now().timestamp()
        ended, self._ended = self._ended, []
        for number, end in ended:
            del self._attempts[number]
            if isinstance(end, AttemptReceipt):
                pages.succeeded(number, end)
            else:
                outcome = attempt_outcome(end)
                if isinstance(outcome, str):
                    pages.stood_aside(number, now, crowded=outcome == "crowded")
                else:
                    pages.failed(number, outcome, now)
            self._progress.touched(number, now)

    # --- waiting -----------------------------------------------------------------------------

    async def _sound_alarm(self, deadline: datetime) -> None:
        await workflow.sleep(deadline - workflow.now(), summary="the document's deadline")
        self._deadline_passed = True

    def _look_again_at(self, when: float | None) -> None:
        """One timer at a time; a timer for the same moment is kept."""
        if self._progress.wake_at == when and self._wake is not None and not self._wake.done():
            return
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        self._progress.wake_at = when
        if when is not None:
            self._wake = asyncio.create_task(self._sleep_until(when))

    async def _sleep_until(self, when: float) -> None:
        delay = max(0.001, when - workflow.now().timestamp())
        await workflow.sleep(delay, summary="a route may be tried again")
        self._woken = True

    async def _in_time(self, step: Coroutine[Any, Any, T]) -> T | None:
        """The step's result, or None (and the step cancelled) when the deadline comes first."""
        task = asyncio.create_task(step)
        await workflow.wait_condition(lambda: task.done() or self._deadline_passed)
        if task.done():
            return task.result()
        task.cancel()
        return None

    def _fail(self, info: ErrorInfo) -> Exception:
        self._progress.failed(info, workflow.now().timestamp())
        workflow.upsert_search_attributes(
            [SearchAttributeKey.for_keyword("QuireStatus").value_set("failed")]
        )
        return refused(info.model_copy(update={"error_type": "terminal"}))

    # --- what people ask ---------------------------------------------------------------------

    @workflow.query(description="Progress: counts, current page, errors by page")
    def status(self) -> DocumentStatus:
        return self._progress.status()

    @workflow.query(description="Pages of a range: where each stands and where its text came from")
    def pages(self, wanted: PageRange | None = None) -> list[PageStatus]:
        return self._progress.pages(wanted or PageRange())

    @workflow.query(description="Routes and providers: breaker state, time to retry, in flight")
    def breakers(self) -> list[BreakerStatus]:
        return self._progress.breakers()


def _too_late() -> ErrorInfo:
    return ErrorInfo(
        code=Code.GW_TIMEOUT,
        reason="DEADLINE",
        error_type="retryable",
        message="The deadline passed before the document could be fetched.",
        remedy="Check that workers run, or give a longer --deadline.",
    )


def _no_such_page(spec: str, page_count: int) -> ErrorInfo:
    return ErrorInfo(
        code=Code.UNKNOWN,
        reason="PAGES",
        error_type="terminal",
        message=f"The document has {page_count} pages; none of '{spec}' exists.",
        remedy="Name pages that exist with --pages.",
    )
