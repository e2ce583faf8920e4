"""From a request to a surveyed document: plan, fetch, survey, brief."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.document.plan import PlanDocument
    from activities.document.previous import LoadPrevious
    from activities.document.reuse import ReuseResult
    from activities.document.survey import SurveyDocument
    from quire.contracts.carried import Carried
    from quire.contracts.codes import Code, ErrorInfo
    from quire.contracts.document import DocumentRequest
    from quire.contracts.names import DOCUMENTS_QUEUE
    from quire.contracts.plan import DocumentPlan
    from quire.contracts.steps import (
        DocumentReceipt,
        PreviousReceipt,
        PreviousRequest,
        ReuseReceipt,
        ReuseRequest,
        SurveyRequest,
    )
    from quire.domain import errors
    from quire.domain.document.keys import finished_id
    from quire.temporal import search_attributes
    from workflows.document import options
    from workflows.document.outcomes import document_error
    from workflows.document.previous import take_over
    from workflows.document.progress import Phase
    from workflows.document.repair import ingest_source, write_brief
    from workflows.document.reporter import Reporter
    from workflows.document.state import DocumentState
    from workflows.document.stop import StopState

T = TypeVar("T")


class NoDocumentError(Exception):
    """There is nothing to read."""

    def __init__(self, info: ErrorInfo) -> None:
        super().__init__(info.message)
        self.info = info


@dataclass(frozen=True)
class SurveyedRest:
    """The classes of the pages behind the head, as far as they could be surveyed."""

    classes: str
    error: ErrorInfo | None = None


class Preparation:
    """Each step ends early when the document must stop."""

    def __init__(
        self,
        request: DocumentRequest,
        state: DocumentState,
        stop: StopState,
        reporter: Reporter,
    ) -> None:
        self._request = request
        self._state = state
        self._stop = stop
        self._reporter = reporter
        # The survey of what lies behind the document's head, once that is surveyed.
        self.rest: asyncio.Task[SurveyedRest] | None = None

    async def plan(self) -> DocumentPlan:
        """Decide how and until when the document will be read."""
        plan = await workflow.execute_local_activity_method(
            PlanDocument.plan_document,
            self._request,
            start_to_close_timeout=options.LOCAL,
            retry_policy=options.QUICK,
            summary="decide how the document will be read",
        )
        deadline = workflow.info().start_time + timedelta(seconds=plan.deadline_s)
        self._state.set_plan(plan, deadline.timestamp())
        _correct_engine(plan.engine)
        return plan

    async def survey(self, plan: DocumentPlan) -> Carried | ReuseReceipt:
        """The surveyed document (without classes when there was no time to survey it), or the
        stored result of an earlier job on the same bytes with the same options."""
        previous = await self._in_time(self._previous()) if self._request.retry else None
        source = previous.source if previous else await self._in_time(self._ingest())
        if source is None:
            raise NoDocumentError(self._stop.why_no_document())
        if not self._state.pages.choose(self._request.pages, source.page_count):
            raise NoDocumentError(
                errors.no_such_page(self._request.pages or "", page_count=source.page_count).info
            )
        if not self._request.force and previous is None:
            reused = await self._in_time(self._reuse(plan, source))
            if reused is not None:
                return reused
        surveyed = await self._in_time(self._begin_survey(plan, source, whole=previous is not None))
        carried = Carried(
            plan=plan,
            source=source,
            brief=await write_brief(self._request, plan, source) if surveyed else "",
            classes=surveyed or "",
            started=self._state.started,
            deadline=self._state.deadline or 0.0,
        )
        return carried if previous is None else take_over(carried, previous)

    async def _ingest(self) -> DocumentReceipt:
        self._enter(Phase.INGEST)
        return await ingest_source(self._request)

    async def _previous(self) -> PreviousReceipt:
        self._enter(Phase.INGEST)
        return await self._or_fetch_again(self._load_previous)

    async def _load_previous(self) -> PreviousReceipt:
        retry = self._request.retry
        assert retry is not None, "only a retry takes up an earlier run"
        return await workflow.execute_activity_method(
            LoadPrevious.load_previous,
            PreviousRequest(
                job_id=self._request.job_id,
                user_id=retry.user_id,
                pages=retry.pages,
                origin=self._request.source,
            ),
            start_to_close_timeout=options.DOCUMENT_STEP,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=options.STEADY,
            summary="take over the pages of the earlier result",
        )

    async def _reuse(self, plan: DocumentPlan, source: DocumentReceipt) -> ReuseReceipt | None:
        request = self._request
        return await workflow.execute_activity_method(
            ReuseResult.reuse_result,
            ReuseRequest(
                job_id=request.job_id,
                source=request.source_name or request.source,
                origin=request.source,
                sha256=source.sha256,
                finished=finished_id(plan, self._state.pages.chosen, text_only=request.text_only),
                user_id=request.user_id,
                started_at=self._state.started_at,
                healed=self._state.healed.count,
                without_ocr=any(route.degrades for route in plan.chain.routes),
            ),
            start_to_close_timeout=options.DOCUMENT_STEP,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=options.STEADY,
            summary="is there a stored result?",
        )

    async def _begin_survey(
        self, plan: DocumentPlan, source: DocumentReceipt, *, whole: bool
    ) -> str:
        """The classes of all pages; of a longer document those of its head, while the survey of
        the rest goes on."""
        self._enter(Phase.SURVEY)
        head = plan.survey_head
        if whole or not head or source.page_count <= 2 * head or self._request.text_only:
            return await self._survey(source)
        known = await self._survey(source, last=head)
        # The last pages of the head are asked about together with their neighbours behind it.
        ready = head - plan.reading.context_radius
        if self._state.pages.chosen[-1] <= ready:
            return known
        self.rest = asyncio.create_task(self._survey_rest(source, head + 1, known[ready:]))
        return known[:ready]

    async def _survey_rest(self, source: DocumentReceipt, first: int, held: str) -> SurveyedRest:
        """Never fails: by then there is a document, and pages of it are paid for."""
        try:
            return SurveyedRest(held + await self._survey(source, first=first))
        except ActivityError as error:
            return SurveyedRest(held, document_error(error))

    async def _survey(
        self, source: DocumentReceipt, first: int = 1, last: int | None = None
    ) -> str:
        return await self._or_fetch_again(lambda: self._survey_pages(source, first, last))

    async def _survey_pages(self, source: DocumentReceipt, first: int, last: int | None) -> str:
        end = last or source.page_count
        pages = f"page {first}" if first == end else f"pages {first} to {end}"
        survey = await workflow.execute_activity_method(
            SurveyDocument.survey_document,
            SurveyRequest(
                job_id=self._request.job_id,
                sha256=source.sha256,
                page_count=source.page_count,
                kind=source.kind,
                sealed_password=self._request.sealed_password,
                first=first,
                last=last,
            ),
            task_queue=DOCUMENTS_QUEUE,
            start_to_close_timeout=options.DOCUMENT_STEP,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=options.STEADY,
            cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
            summary=f"MuPDF text and class of {pages}",
        )
        return survey.classes

    async def _or_fetch_again(self, step: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The step; once more, with the document fetched again, where the store had lost it."""
        try:
            return await step()
        except ActivityError as error:
            # Documents begun by older workers went on without.
            gone = document_error(error).code is Code.EXPIRED
            if not gone or not workflow.patched("fetch-again") or not await self._is_fetched():
                raise
        return await step()

    async def _is_fetched(self) -> bool:
        try:
            await ingest_source(self._request)
        except ActivityError:
            return False
        return True

    def _enter(self, phase: Phase) -> None:
        self._state.progress.phase = phase
        self._reporter.phase_started(self._state, workflow.now().timestamp())

    async def _in_time(self, step: Coroutine[Any, Any, T]) -> T | None:
        """The step's result, or None (and the step cancelled) when the document must stop."""
        task = asyncio.create_task(step)
        await workflow.wait_condition(lambda: task.done() or self._stop.requested)
        if task.done():
            return task.result()
        # How it ends no longer matters; unasked, asyncio would log it as an error.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        task.cancel()
        return None


def _correct_engine(engine: str) -> None:
    """A client of a cluster could only guess the engine; lists should not show the guess until
    the end. Where the guess was right, nothing is added to history."""
    key = search_attributes.ENGINE
    guess = workflow.info().typed_search_attributes.get(key)
    # Documents begun by older workers have nothing at this place in their history.
    if guess != engine and workflow.patched("engine-after-plan"):
        workflow.upsert_search_attributes([key.value_set(engine)])
