"""What people send to a running document: judged, then done or refused.

Anything may come, from any client. A signal that is refused leaves a line in the log, an update
and a query answer with an error; none of them may raise anything else, since that would fail the
workflow task for ever.
"""

from collections.abc import Sequence

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.support.failures import refused
    from quire.contracts.carried import DocumentRun
    from quire.contracts.codes import ErrorInfo
    from quire.contracts.document import CancelRequest, DocumentRequest, RetryRequest
    from quire.contracts.status import PageRange
    from quire.domain import errors
    from quire.domain.document.handler_input import parse_cancel, parse_range, parse_retry
    from quire.domain.document.ownership import may_change
    from workflows.document.dispatcher import Dispatcher
    from workflows.document.reporter import Reporter
    from workflows.document.state import DocumentState
    from workflows.document.stop import StopState


def wanted_range(given: Sequence[object]) -> PageRange:
    """The pages that a query asks for; its refusal is the query's answer."""
    wanted = parse_range(given)
    if isinstance(wanted, ErrorInfo):
        raise refused(wanted)
    return wanted


def wanted_run(request: DocumentRun | None) -> DocumentRun:
    """What the document is started with; where that is nothing, the workflow fails."""
    if request is None:
        raise refused(errors.bad_start().info)
    return request


class People:
    """The requests of people to one document."""

    def __init__(
        self,
        request: DocumentRequest,
        state: DocumentState,
        stop: StopState,
        reporter: Reporter,
        dispatcher: Dispatcher,
    ) -> None:
        self._request = request
        self._state = state
        self._stop = stop
        self._reporter = reporter
        self._dispatcher = dispatcher

    def check_retry(self, given: Sequence[object]) -> None:
        """Raise what an update answers to a request that could do nothing."""
        request = self._retry_request(given)
        if isinstance(request, ErrorInfo):
            raise refused(request)

    def check_cancel(self, given: Sequence[object]) -> None:
        """Raise what an update answers to a caller who does not own the document."""
        request = self._cancel_request(given)
        if isinstance(request, ErrorInfo):
            raise refused(request)

    def retry(self, given: Sequence[object], signal: str = "") -> tuple[int, ...]:
        """Have pages read again, and name them. An update was checked before; the refusal of a
        signal is only logged."""
        request = self._retry_request(given)
        if isinstance(request, ErrorInfo):
            self._log_refusal(signal, request)
            return ()
        pages = self._state.pages.retry(request.pages, workflow.now().timestamp())
        self._reporter.retries_scheduled(len(pages), "person")
        self._dispatcher.request_selection()
        return pages

    def cancel(self, given: Sequence[object], signal: str = "") -> None:
        """Stop the document and keep what is done."""
        request = self._cancel_request(given)
        if isinstance(request, ErrorInfo):
            self._log_refusal(signal, request)
            return
        self._stop.cancelled = True

    def refuse_unknown(self) -> None:
        """Log a signal that there is not. Its name is anybody's text and stays out of the log."""
        self._log_refusal("", errors.bad_input("there is no such signal").info)

    def _log_refusal(self, signal: str, why: ErrorInfo) -> None:
        facts = {"signal": signal, "reason": why.reason, "error": why.message}
        workflow.logger.warning("signal_refused", extra=facts)

    def _cancel_request(self, given: Sequence[object]) -> CancelRequest | ErrorInfo:
        request = parse_cancel(given)
        if isinstance(request, CancelRequest) and not self._is_owner(request.user_id):
            return errors.not_owner(self._request.job_id).info
        return request

    def _retry_request(self, given: Sequence[object]) -> RetryRequest | ErrorInfo:
        request = parse_retry(given)
        if isinstance(request, ErrorInfo):
            return request
        if not self._is_owner(request.user_id):
            return errors.not_owner(self._request.job_id).info
        if (
            self._state.pages.dispatch is None
            or self._stop.requested
            or self._state.end.completed_at
        ):
            return errors.between_steps(self._request.job_id).info
        found = self._state.pages.retryable(request.pages)
        return request if found else errors.nothing_to_retry(self._request.job_id).info

    def _is_owner(self, caller: str) -> bool:
        return may_change(owner=self._request.user_id, caller=caller)
