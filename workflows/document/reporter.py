"""What operators are shown of a document: log lines, metrics and the Web UI's live details.

A replay repeats none of it: the SDK's logger and meter are silent there. The state is only read.
"""

import logging
from collections import Counter
from typing import Any, Literal

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.carried import Carried
    from quire.contracts.codes import ErrorInfo
    from quire.contracts.document import DocumentRequest
    from quire.contracts.routing import Breaker, BreakerState
    from quire.domain.counts import counted
    from quire.domain.errors import is_ours
    from quire.telemetry import metrics
    from quire.telemetry.metrics import Measure
    from quire.telemetry.recorder import MetricRecorder
    from workflows.document.details import render_details
    from workflows.document.page_state import PageState
    from workflows.document.state import DocumentState

# Details are rendered whole each time, which costs a long document more: they are rendered less
# often there.
PAGES_AT_ONCE = 500


class Reporter:
    """Compares the state with what it last reported, and reports the difference."""

    def __init__(self, request: DocumentRequest) -> None:
        self._request = request
        # State of each breaker as last reported, and since when the open ones are open.
        self._known: dict[str, BreakerState] = {}
        self._opened: dict[str, float] = {}
        self._rendered_at = 0.0

    def take_up(self, carried: Carried) -> None:
        """An earlier run has already reported how these breakers are."""
        self._known = {key: breaker.state for key, breaker in carried.dispatch.breakers.items()}
        self._opened = dict(carried.opened)

    def carry(self, carried: Carried) -> Carried:
        """What the next run must know, to measure how long breakers stay open."""
        return carried.model_copy(update={"opened": dict(self._opened)})

    def run_began(self) -> None:
        """A run of a job begins; one that continues as new does not begin again."""
        _count(metrics.JOBS_CREATED)

    def retries_scheduled(self, pages: int, cause: Literal["round", "person"]) -> None:
        """Pages will be read again: in a later round, or because a person asked."""
        if pages:
            _count(metrics.RETRIES, pages, cause=cause)

    def phase_started(self, state: DocumentState, now: float) -> None:
        """A step of the document begins."""
        total = len(state.pages.chosen)
        phase = state.progress.phase.value
        workflow.logger.info(f"{phase}_began", extra={"pages": total} if total else {})
        self._render(state, now)

    # --- while pages are read ----------------------------------------------------------------

    def report_changes(self, state: DocumentState, now: float) -> None:
        """After anything may have changed."""
        if state.pages.dispatch is not None:
            for key, breaker in sorted(state.pages.dispatch.health.breakers.items()):
                if breaker.state is not self._known.get(key, BreakerState.CLOSED):
                    self._breaker_changed(key, breaker, now)
        pages = len(state.pages.chosen)
        if pages <= PAGES_AT_ONCE or now - self._rendered_at >= pages / PAGES_AT_ONCE:
            self._render(state, now)

    def _render(self, state: DocumentState, now: float) -> None:
        self._rendered_at = now
        workflow.set_current_details(render_details(self._request, state, now))

    def attempt_ended(self, state: DocumentState, page: PageState) -> None:
        """An attempt ended; if the page was tried elsewhere before, that was a failover.

        Counted at the end: an attempt that never came to its turn is none.
        """
        if page.moved is not None:
            before, last = (state.route_keys[route] for route in page.moved)
            _count(metrics.FAILOVERS, from_route=before, to_route=last)

    def attempt_crowded_out(self, page: int, route: str, attempt: int) -> None:
        """No slot came in a moment: the page looks for another route."""
        _count(metrics.CROWDED_OUT, route=route)
        facts = {"page": page, "route": route, "attempt": attempt}
        workflow.logger.info("attempt_crowded_out", extra=facts)

    def attempt_rested(self, page: int, route: str, reason: str) -> None:
        """No call was made: to the worker, the route looks dead, from whatever document."""
        _count(metrics.RESTED, route=route)
        workflow.logger.info("attempt_rested", extra={"page": page, "route": route, "why": reason})

    def page_hedged(self, page: int, route: str) -> None:
        """A page is asked of a second route, since the first takes long: both are paid for."""
        _count(metrics.HEDGES, route=route)
        workflow.logger.info("page_hedged", extra={"page": page, "route": route})

    def timed_out(self, scope: str) -> None:
        """Time ran out: of an attempt, or of the document."""
        _count(metrics.TIMEOUTS, scope=scope)

    def deadline_moved(self, state: DocumentState, now: float) -> None:
        """There are more pages to read than the deadline allowed for, or fewer."""
        facts = {"pages": state.pages.to_read, "seconds": round((state.deadline or now) - now)}
        workflow.logger.info("deadline_moved", extra=facts)
        self._render(state, now)

    # --- at the end --------------------------------------------------------------------------

    def completed(self, state: DocumentState, now: float, **facts: Any) -> None:
        """The document has its text."""
        for record in state.pages.records():
            known = state.pages.classes.get(record.page)
            _count(
                metrics.PAGES,
                source=record.source.value,
                classification=known.value if known else metrics.UNSURVEYED,
            )
        if state.end.timed_out:
            self.timed_out("document")
        self._ended("completed", state, now, {**facts, **_why_degraded(state)})

    def failed(
        self, state: DocumentState, error: ErrorInfo, now: float, *, timed_out: bool
    ) -> None:
        """There is no document; perhaps because its deadline passed first."""
        if timed_out:
            self.timed_out("document")
        facts = {"error_code": error.code.value, "reason": error.reason}
        self._ended("failed", state, now, facts, error)

    def _ended(
        self,
        status: str,
        state: DocumentState,
        now: float,
        facts: dict[str, Any],
        error: ErrorInfo | None = None,
    ) -> None:
        for key in sorted(self._opened):
            self._opened_until(key, now)
        for key, known in sorted(self._known.items()):
            # The next document begins with closed breakers.
            if known is not BreakerState.CLOSED:
                _set(metrics.BREAKER_STATE, 0, key=key)
        took = now - state.started
        _count(
            metrics.DOCUMENTS,
            status=status,
            code=error.code.value if error else metrics.NO_ERROR,
            error_type=error.error_type if error else metrics.NO_ERROR,
        )
        _time(metrics.DOCUMENT_TIME, took, status=status)
        self._render(state, now)
        workflow.logger.log(
            _level(error), f"document_{status}", extra={"duration_ms": round(took * 1000), **facts}
        )

    # --- breakers ----------------------------------------------------------------------------

    def _breaker_changed(self, key: str, breaker: Breaker, now: float) -> None:
        self._known[key] = breaker.state
        if breaker.state is BreakerState.OPEN:
            self._opened.setdefault(key, now)
        elif key in self._opened and breaker.state is BreakerState.CLOSED:
            self._opened_until(key, now)
        state = breaker.state.value
        _count(metrics.BREAKER_CHANGES, key=key, state=state)
        _set(metrics.BREAKER_STATE, metrics.BREAKER_LEVELS[state], key=key)
        facts = {"route": key, "breaker": state, "failures": breaker.failures}
        if breaker.state is BreakerState.OPEN:
            facts |= {
                "reason": breaker.reason,
                "retry_in_ms": round((breaker.retry_at - now) * 1e3),
            }
        workflow.logger.warning("breaker_changed", extra=facts)

    def _opened_until(self, key: str, now: float) -> None:
        _time(metrics.BREAKER_OPEN_TIME, now - self._opened.pop(key), key=key)


def _why_degraded(state: DocumentState) -> dict[str, str]:
    """Codes and the command that mends it; nothing of a vendor's or a person's."""
    codes = Counter(record.error.code.value for record in state.pages.records() if record.error)
    if not codes:
        return {}
    found = ", ".join(f"{code} on {counted(n, 'page')}" for code, n in sorted(codes.items()))
    return {"degraded": found, "remedy": f"quire retry {state.job_id}"}


def _level(error: ErrorInfo | None) -> int:
    if error is None:
        return logging.INFO
    return logging.ERROR if is_ours(error) else logging.WARNING


def _count(measure: Measure, value: int = 1, /, **labels: str) -> None:
    MetricRecorder(workflow.metric_meter()).count(measure, value, **labels)


def _set(measure: Measure, value: int, **labels: str) -> None:
    MetricRecorder(workflow.metric_meter()).set_level(measure, value, **labels)


def _time(measure: Measure, seconds: float, **labels: str) -> None:
    MetricRecorder(workflow.metric_meter()).record_time(measure, seconds, **labels)
