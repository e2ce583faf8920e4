"""What people send to a running batch: judged, then done or refused.

As with documents, anything may come: a signal that is refused leaves a line in the log, an update
answers with an error, and nothing else is raised.
"""

from collections.abc import Sequence

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.support.failures import refused
    from quire.contracts.batch import BatchOrder
    from quire.contracts.batch_steps import BatchRun
    from quire.contracts.codes import ErrorInfo
    from quire.contracts.status import PageRange
    from quire.domain import errors
    from quire.domain.batch.handler_input import parse_order
    from quire.domain.document.handler_input import parse_range
    from quire.domain.document.ownership import may_change
    from workflows.batch.state import BatchState


def wanted_range(given: Sequence[object]) -> PageRange:
    """The documents that a query asks for; its refusal is the query's answer."""
    wanted = parse_range(given)
    if isinstance(wanted, ErrorInfo):
        raise refused(wanted)
    return wanted


def wanted_batch(request: BatchRun | None) -> BatchRun:
    """What the batch is started with; where that is nothing, the workflow fails."""
    if request is None:
        raise refused(errors.bad_start().info)
    return request


class BatchPeople:
    """The orders of people to one batch. `news` says that what may be started has changed."""

    def __init__(self, state: BatchState) -> None:
        self._state = state
        self.news = False

    def pause(self, given: Sequence[object]) -> None:
        """Start nothing more; what is under way goes on."""
        if self._order(given, "pause") is not None:
            self._state.paused = True

    def resume(self, given: Sequence[object]) -> None:
        """Start documents again, perhaps with another spend limit."""
        order = self._order(given, "resume")
        if order is not None:
            self._set_limit(order)
            self._state.resume()
            self.news = True

    def cancel(self, given: Sequence[object]) -> None:
        """Stop, and keep what is done."""
        if self._order(given, "cancel") is not None:
            self._state.cancelled = self.news = True

    def check_retry(self, given: Sequence[object]) -> None:
        """Raise what an update answers to an order that could do nothing."""
        order = parse_order(given)
        if isinstance(order, ErrorInfo):
            raise refused(order)
        problem = self._not_owner(order) or self._nothing_to_retry()
        if problem is not None:
            raise refused(problem)

    def retry(self, given: Sequence[object]) -> int:
        """Have what is not good read again; how many documents these are."""
        order = self._order(given, "retry")
        if order is None or self._nothing_to_retry() is not None:
            return 0
        self._set_limit(order)
        self.news = True
        return self._state.retry()

    def refuse_unknown(self) -> None:
        """Log a signal that there is not."""
        self._log_refusal("", errors.bad_input("there is no such signal").info)

    def _set_limit(self, order: BatchOrder) -> None:
        if order.max_cost_usd is not None:
            self._state.max_cost_usd = order.max_cost_usd

    def _nothing_to_retry(self) -> ErrorInfo | None:
        found = self._state.counts
        if self._state.completed_at is None and found.ended > found.done:
            return None
        return errors.nothing_to_retry_in_batch(self._state.request.batch_id).info

    def _order(self, given: Sequence[object], signal: str) -> BatchOrder | None:
        order = parse_order(given)
        problem = order if isinstance(order, ErrorInfo) else self._not_owner(order)
        if problem is not None:
            self._log_refusal(signal, problem)
            return None
        assert isinstance(order, BatchOrder), "what is no problem is an order"
        return order

    def _not_owner(self, order: BatchOrder) -> ErrorInfo | None:
        request = self._state.request
        if may_change(owner=request.user_id, caller=order.user_id):
            return None
        return errors.not_owner_of_batch(request.batch_id).info

    def _log_refusal(self, signal: str, why: ErrorInfo) -> None:
        facts = {"signal": signal, "reason": why.reason, "error": why.message}
        workflow.logger.warning("signal_refused", extra=facts)
