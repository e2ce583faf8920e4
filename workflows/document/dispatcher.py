"""The dispatcher: one coroutine hands out pages, attempts run beside it and report their end."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.document.recognize import RecognizePage
    from activities.document.select import select_routes
    from quire.contracts.codes import FailureKind
    from quire.contracts.names import PROTOCOL, route_queue
    from quire.contracts.plan import DocumentPlan
    from quire.contracts.selection import Assignment
    from quire.contracts.steps import AttemptFailure, AttemptReceipt, AttemptRequest, AttemptRest
    from workflows.document import options
    from workflows.document.deadline import DeadlineTimer
    from workflows.document.dispatch import DispatchState
    from workflows.document.flights import Flight
    from workflows.document.outcomes import AsideReason, attempt_outcome
    from workflows.document.prepare import SurveyedRest
    from workflows.document.repair import Repair, gone_object
    from workflows.document.reporter import Reporter
    from workflows.document.state import DocumentState
    from workflows.document.stop import StopState


def _history_is_long() -> bool:
    """Temporal suggests a new run at 4,096 events; a shorter history is also replayed sooner
    when a worker takes the document over."""
    info = workflow.info()
    long = info.get_current_history_length() >= options.LONG_HISTORY_EVENTS
    return long or info.is_continue_as_new_suggested()


class Dispatcher:
    """Waits for an attempt's end, a breaker's wake time, a retry request, or the stop."""

    def __init__(
        self, state: DocumentState, stop: StopState, reporter: Reporter, deadline: DeadlineTimer
    ) -> None:
        self._state = state
        self._stop = stop
        self._reporter = reporter
        self._deadline = deadline
        self._ended: list[tuple[int, Flight, AttemptReceipt | ActivityError]] = []
        # By page and number of the attempt: a page may be asked of two routes at once.
        self._attempts: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._wake: asyncio.Task[None] | None = None
        self._wake_at: float | None = None
        self._selection_due = False
        # The rest of the survey, while it goes on beside the first attempts.
        self._survey: asyncio.Task[SurveyedRest] | None = None
        self._repair: Repair | None = None
        # How many repairs were done when a page's attempt began.
        self._repaired: dict[int, int] = {}
        # History is long: nothing new is begun, what is in flight comes to its end.
        self._draining = False

    def expect_survey(self, survey: asyncio.Task[SurveyedRest]) -> None:
        """More pages will come from this survey."""
        self._survey = survey

    def request_selection(self) -> None:
        """Something changed that only a new selection can take into account."""
        self._selection_due = True

    async def run(self, plan: DocumentPlan, repair: Repair) -> bool:
        """Hand out pages until all have ended or the document must stop.

        True means: history is long; nothing is in flight, go on in a new run.
        """
        pages = self._state.pages
        dispatch = pages.require_dispatch()
        self._repair = repair
        while not pages.finished and not self._stop.requested:
            self._take_in_survey()
            # A run carries over what is surveyed: so that must be complete.
            self._draining = self._draining or (self._survey is None and _history_is_long())
            if self._draining and not dispatch.flights:
                break
            if repair.due:
                await repair.run()
            select = not self._draining and (self._selection_due or dispatch.wants_selection())
            if select and await self._select(plan, repair.brief, dispatch):
                continue
            self._reporter.report_changes(self._state, workflow.now().timestamp())
            if not pages.finished:
                await workflow.wait_condition(self._has_news)
            self._settle()
        self._reporter.report_changes(self._state, workflow.now().timestamp())
        self._call_off()
        return self._draining and not pages.finished and not self._stop.requested

    async def _select(self, plan: DocumentPlan, brief: str, dispatch: DispatchState) -> bool:
        """Have pages given to routes, and begin those attempts. True when pages left the view:
        those behind them come into view only now."""
        self._selection_due = False
        selection = await workflow.execute_local_activity(
            select_routes,
            dispatch.snapshot(workflow.now().timestamp()),
            start_to_close_timeout=options.LOCAL,
            retry_policy=options.QUICK,
            summary="give pages to routes",
        )
        now = workflow.now().timestamp()
        rounds = len(selection.defer) + dispatch.new_rounds(selection)
        for assignment, flight in dispatch.apply(selection, now):
            dispatch.note_attempt(assignment.page, now)
            self._begin(plan, brief, assignment, flight)
        self._reporter.retries_scheduled(rounds, "round")
        self._wake_up_at(selection.wake_at)
        if selection.fall_back or selection.defer:
            self._selection_due = True
            return True
        return False

    def _call_off(self) -> None:
        """End what still runs beside: the timer, the survey, the attempts."""
        self._wake_up_at(None)
        if self._survey is not None:
            self._survey.cancel()
            # A retry request may come while the result is written: then this goes round again.
            self._survey = None
        for attempt in sorted(self._attempts):
            self._attempts[attempt].cancel()
        self._attempts.clear()

    def _has_news(self) -> bool:
        surveyed = self._survey is not None and self._survey.done()
        select = self._selection_due and not self._draining
        return bool(self._ended) or self._stop.requested or surveyed or select

    def _take_in_survey(self) -> None:
        if self._survey is None or not self._survey.done():
            return
        rest, self._survey = self._survey.result(), None
        self._state.pages.survey_on(rest.classes)
        if rest.error is not None:
            self._state.pages.survey_failed(rest.error)
            facts = {"error_code": rest.error.code.value, "reason": rest.error.reason}
            workflow.logger.warning("survey_failed", extra=facts)
        self._deadline.adjust()

    def _begin(
        self, plan: DocumentPlan, brief: str, assignment: Assignment, flight: Flight
    ) -> None:
        self._state.progress.current = assignment.page
        self._repaired[assignment.page] = self._repair.done if self._repair else 0
        attempt = self._attempt(plan, brief, assignment, flight)
        self._attempts[assignment.page, flight.number] = asyncio.create_task(attempt)
        if assignment.how == "hedge":
            route = plan.chain.routes[assignment.route]
            self._reporter.page_hedged(assignment.page, route.key)

    async def _attempt(
        self, plan: DocumentPlan, brief: str, assignment: Assignment, flight: Flight
    ) -> None:
        dispatch = self._state.pages.require_dispatch()
        route = plan.chain.routes[assignment.route]
        # Who has nowhere else to go, or whose turn the server gives, is not hurried on.
        waits = assignment.how == "behind" or plan.dispatch.when_busy == "wait"
        waits = waits or plan.chain.vendor_routes == 1 or route.rate is not None
        hedge = assignment.how == "hedge"
        attempt = len(dispatch.pages[assignment.page].attempts) + 1 + hedge
        again = f", attempt {attempt}" if attempt > 1 else ""
        try:
            end: AttemptReceipt | ActivityError = await workflow.execute_activity_method(
                RecognizePage.recognize_page,
                AttemptRequest(
                    brief=brief,
                    page=assignment.page,
                    route=assignment.route,
                    seconds=assignment.seconds,
                    begun_at=flight.begun_at,
                    take=flight.take,
                    hurried=not waits,
                    attempt=attempt,
                    again=flight.again,
                    another_opinion=dispatch.pages[assignment.page].second_opinion,
                    proven=dispatch.adaptive and assignment.route in dispatch.answered,
                    protocol=PROTOCOL,
                ),
                task_queue=route_queue(route.provider, route.model),
                # A call of another attempt may come first: more are taken up than there are slots.
                start_to_close_timeout=timedelta(seconds=route.timeout_s + assignment.seconds)
                + options.ATTEMPT_MARGIN,
                schedule_to_start_timeout=None if waits else options.MOMENT,
                heartbeat_timeout=options.HEARTBEAT,
                retry_policy=options.ATTEMPT,
                cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
                summary=f"page {assignment.page} on {route.key}{again}"
                + (", while another takes long" if hedge else ""),
            )
        except ActivityError as error:
            end = error
        self._ended.append((assignment.page, flight, end))

    def _settle(self) -> None:
        """Take in what became of attempts, in the order in which they ended."""
        now = workflow.now().timestamp()
        ended, self._ended = self._ended, []
        for number, flight, end in ended:
            attempt = flight.number
            if self._attempts.pop((number, attempt), None) is None:
                # It was called off before; its page has already ended.
                self._paid_for_nothing(number, flight, end)
                continue
            if isinstance(end, AttemptReceipt):
                self._read(number, attempt, end, now)
            else:
                self._not_read(number, attempt, end, now)
            self._state.pages.require_dispatch().note_attempt(number, now)
            self._state.attempt_settled(number, now)

    def _paid_for_nothing(
        self, number: int, flight: Flight, end: AttemptReceipt | ActivityError
    ) -> None:
        """Both attempts at a page were answered at the same moment: both are paid, unless one has
        found the other's answer."""
        if not isinstance(end, AttemptReceipt) or self._stop.requested:
            return
        if self._state.pages.require_dispatch().read_twice(number, end, flight.route):
            self._state.progress.spent.add(end.paid, end.wasted)

    def _read(self, number: int, attempt: int, receipt: AttemptReceipt, now: float) -> None:
        dispatch = self._state.pages.require_dispatch()
        other = dispatch.succeeded(number, receipt, now, attempt)
        if other is not None:
            # The page has its text: what the other attempt would bring is of no use.
            self._attempts.pop((number, other.number)).cancel()
        self._state.progress.spent.add(receipt.paid, receipt.wasted)
        self._reporter.attempt_ended(self._state, dispatch.pages[number])

    def _not_read(self, number: int, attempt: int, error: ActivityError, now: float) -> None:
        dispatch = self._state.pages.require_dispatch()
        page, outcome = dispatch.pages[number], self._outcome(number, error)
        if isinstance(outcome, str):
            crowded = outcome == "crowded"
            if crowded:
                route = dispatch.routes[dispatch.flights.find(number, attempt).route]
                self._reporter.attempt_crowded_out(number, route.key, len(page.attempts) + 1)
            dispatch.stood_aside(number, now, crowded=crowded, attempt=attempt)
            return
        if isinstance(outcome, AttemptRest):
            route = dispatch.routes[dispatch.flights.find(number, attempt).route]
            self._reporter.attempt_rested(number, route.key, outcome.reason)
            dispatch.rested(number, outcome, now, attempt)
            return
        dispatch.failed(number, outcome, now, attempt)
        self._state.progress.spent.add(outcome.wasted)
        self._state.attempt_failed(number)
        self._reporter.attempt_ended(self._state, page)
        if outcome.kind is FailureKind.TIMEOUT:
            self._reporter.timed_out("attempt")

    def _outcome(
        self, number: int, error: ActivityError
    ) -> AttemptFailure | AttemptRest | AsideReason:
        gone = gone_object(error)
        if gone and self._repair and self._repair.accept(gone, self._repaired[number]):
            return "stood_down"
        return attempt_outcome(error)

    def _wake_up_at(self, when: float | None) -> None:
        """One timer at a time; a timer for the same moment is kept."""
        if self._wake_at == when and self._wake is not None and not self._wake.done():
            return
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        self._wake_at = when
        if when is not None:
            self._wake = asyncio.create_task(self._sleep_until(when))

    async def _sleep_until(self, when: float) -> None:
        delay = max(0.001, when - workflow.now().timestamp())
        await workflow.sleep(delay, summary="a route may be tried again")
        self._selection_due = True
