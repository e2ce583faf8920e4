"""Metrics of the calls to models, on the worker that makes them."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from temporalio import activity

from quire.contracts.money import NOTHING, Paid
from quire.domain.document.attempts import OK
from quire.domain.document.transcription import PageAnswer
from quire.domain.errors import AttemptFailed
from quire.telemetry import metrics
from quire.telemetry.recorder import MetricRecorder


class CallMeter:
    """Counts, times and prices the calls to models of this worker."""

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def call(self, route: str) -> Iterator["Call"]:
        """Around one call: its outcome is counted however it ends."""
        call = Call()
        started = time.monotonic()
        self._move(route, +1)
        try:
            yield call
        except AttemptFailed as error:
            call.outcome = error.kind.value
            if error.wasted != NOTHING:
                _bill(route, error.wasted)
            raise
        finally:
            self._move(route, -1)
            _recorder().count(metrics.CALLS, 1, route=route, outcome=call.outcome)
            took = time.monotonic() - started
            _recorder().record_time(metrics.CALL_TIME, took, route=route, outcome=call.outcome)

    def _move(self, route: str, step: int) -> None:
        self._under_way[route] += step
        _recorder().set_level(metrics.IN_FLIGHT, self._under_way[route], route=route)


class Call:
    """One call; aborted until it has another outcome."""

    outcome = metrics.ABORTED

    def answered(self, route: str, answer: PageAnswer) -> None:
        """The call brought a good answer: count what it took."""
        self.outcome = OK
        usage = answer.usage
        _bill(route, Paid.of(usage.input_tokens, usage.output_tokens, answer.cost_usd))


def _bill(route: str, paid: Paid) -> None:
    """Count what the vendor bills for a call, whether its answer is used or not."""
    _recorder().count(metrics.TOKENS, paid.input_tokens, route=route, direction="input")
    _recorder().count(metrics.TOKENS, paid.output_tokens, route=route, direction="output")
    if paid.microdollars is None:
        _recorder().count(metrics.UNPRICED, 1, route=route)
    else:
        _recorder().count(metrics.COST, paid.microdollars, route=route)


def reused(route: str) -> None:
    """Count an answer from the store, for which no model was called."""
    _recorder().count(metrics.REUSED, 1, route=route)


class QueueWait:
    """How long ago this attempt was scheduled; made when a worker takes it up.

    The time in the queue is the server's own difference and the time here this machine's: the
    clocks of two machines are never compared, since one may be seconds ahead of the other.
    """

    def __init__(self) -> None:
        info = activity.info()
        self._queued = (info.started_time - info.current_attempt_scheduled_time).total_seconds()
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        """The wait so far, in the queue and in this worker."""
        return max(0.0, self._queued) + time.monotonic() - self._since


def queued_for(route: str, seconds: float) -> None:
    """Record how long an attempt waited for its slot, in the queue and in this worker."""
    _recorder().record_time(metrics.QUEUE_DELAY, seconds, route=route)


def _recorder() -> MetricRecorder:
    return MetricRecorder(activity.metric_meter())
