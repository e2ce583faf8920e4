"""What a document's workflow tells operators: log lines, metrics and the Web UI's live details.

None of it is said again in a replay: the SDK's logger and meter keep silent there.
"""

import logging
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.carried import Carried
    from quire.contracts.codes import ErrorInfo
    from quire.contracts.document import DocumentRequest
    from quire.contracts.routing import Breaker, BreakerState
    from quire.telemetry import metrics
    from quire.telemetry.metrics import Measure
    from quire.telemetry.recorder import MetricRecorder
    from workflows.document.details import render_details
    from workflows.document.page_state import Page
    from workflows.document.state import DocumentProgress

# Details are rendered whole each time, which costs a long document more: it is told less often.
PAGES_AT_ONCE = 500


class Teller:
    """Compares what is with what it told last, and tells the difference."""

    def __init__(self, request: DocumentRequest, progress: DocumentProgress) -> None:
        self._request = request
        self._progress = progress
        self._known: dict[str, BreakerState] = {}
        self._opened: dict[str, float] = {}
        self._rendered_at = 0.0

    def take_up(self, carried: Carried) -> None:
        """An earlier run has already told how these breakers are."""
        self._known = {key: breaker.state for key, breaker in carried.dispatch.breakers.items()}
        self._opened = dict(carried.opened)

    def carry(self, carried: Carried) -> Carried:
        """What the next run must know, to measure how long breakers stay open."""
        return carried.model_copy(update={"opened": dict(self._opened)})

    def entered(self, phase: str, now: float) -> None:
        """A step of the document begins."""
        self._progress.phase = phase
        total = len(self._progress.chosen)
        workflow.logger.info(f"{phase}_began", extra={"pages": total} if total else {})
        self.render(now)

    # --- while pages are read ----------------------------------------------------------------

    def looked(self, now: float) -> None:
        """After anything may have changed."""
        if self._progress.dispatch is not None:
            for key, breaker in sorted(self._progress.dispatch.health.breakers.items()):
                if breaker.state is not self._known.get(key, BreakerState.CLOSED):
                    self._breaker_changed(key, breaker, now)
        pages = len(self._progress.chosen)
        if pages <= PAGES_AT_ONCE or now - self._rendered_at >= pages / PAGES_AT_ONCE:
            self.render(now)

    def render(self, now: float) -> None:
        self._rendered_at = now
        workflow.set_current_details(render_details(self._request, self._progress, now))

    def attempted(self, page: Page) -> None:
        """An attempt ended; if the page was tried elsewhere before, that was a failover.

        Told at the end: an attempt that never came to its turn is none.
        """
        if page.moved is not None:
            before, last = (self._progress.route_keys[route] for route in page.moved)
            _count(metrics.FAILOVERS, from_route=before, to_route=last)

    def crowded_out(self, page: int, route: str, attempt: int) -> None:
        """No slot came in a moment: the page looks for another route."""
        _count(metrics.CROWDED_OUT, route=route)
        facts = {"page": page, "route": route, "attempt": attempt}
        workflow.logger.info("attempt_crowded_out", extra=facts)

    def timed_out(self, scope: str) -> None:
        _count(metrics.TIMEOUTS, scope=scope)

    # --- at the end --------------------------------------------------------------------------

    def completed(self, now: float, **facts: Any) -> None:
        """The document has its text."""
        for record in self._progress.records():
            known = self._progress.classes.get(record.page)
            _count(
                metrics.PAGES,
                source=record.source.value,
                classification=known.value if known else metrics.UNSURVEYED,
            )
        if self._progress.timed_out:
            self.timed_out("document")
        self._ended("completed", now, facts)

    def failed(self, error: ErrorInfo, now: float, *, timed_out: bool) -> None:
        """There is no document; perhaps because its deadline passed first."""
        if timed_out:
            self.timed_out("document")
        facts = {"error_code": error.code.value, "reason": error.reason}
        self._ended("failed", now, facts, error)

    def _ended(
        self,
        status: str,
        now: float,
        facts: dict[str, Any],
        error: ErrorInfo | None = None,
    ) -> None:
        for key in sorted(self._opened):
            self._opened_until(key, now)
        for key, state in sorted(self._known.items()):
            # The next document begins with closed breakers.
            if state is not BreakerState.CLOSED:
                _set(metrics.BREAKER_STATE, 0, key=key)
        took = now - self._progress.started
        _count(
            metrics.DOCUMENTS,
            status=status,
            code=error.code.value if error else metrics.NO_ERROR,
            error_type=error.error_type if error else metrics.NO_ERROR,
        )
        _time(metrics.DOCUMENT_TIME, took, status=status)
        self.render(now)
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


def _level(error: ErrorInfo | None) -> int:
    if error is None:
        return logging.INFO
    return logging.ERROR if error.ours else logging.WARNING


def _count(measure: Measure, **labels: str) -> None:
    MetricRecorder(workflow.metric_meter()).count(measure, **labels)


def _set(measure: Measure, value: int, **labels: str) -> None:
    MetricRecorder(workflow.metric_meter()).set_level(measure, value, **labels)


def _time(measure: Measure, seconds: float, **labels: str) -> None:
    MetricRecorder(workflow.metric_meter()).record_time(measure, seconds, **labels)
