"""What attempts tell operators: metrics of the calls, on the worker that makes them."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from temporalio import activity

from quire.contracts.money import NOTHING, Paid
from quire.domain.document.attempts import OK
from quire.domain.document.transcription import PageAnswer
from quire.domain.errors import AttemptFailed
from quire.telemetry import metrics
from quire.telemetry.metrics import Measure


class CallMeter:
    """Counts, times and prices the calls to models of this worker."""

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def call(self, route: str) -> Iterator["Call"]:
        """Around one call: what it came to is counted however it ends."""
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
            _count(metrics.CALLS, 1, route=route, outcome=call.outcome)
            took = time.monotonic() - started
            _time(metrics.CALL_TIME, took, route=route, outcome=call.outcome)

    def _move(self, route: str, step: int) -> None:
        self._under_way[route] += step
        gauge = activity.metric_meter().create_gauge(
            metrics.IN_FLIGHT.name, metrics.IN_FLIGHT.description
        )
        gauge.set(self._under_way[route], {"route": route})


class Call:
    """One call; aborted unless it says something else."""

    outcome = metrics.ABORTED

    def answered(self, route: str, answer: PageAnswer) -> None:
        self.outcome = OK
        usage = answer.usage
        _bill(route, Paid.of(usage.input_tokens, usage.output_tokens, answer.cost_usd))


def _bill(route: str, paid: Paid) -> None:
    """What the vendor bills for a call, whether its answer counts or not."""
    _count(metrics.TOKENS, paid.input_tokens, route=route, direction="input")
    _count(metrics.TOKENS, paid.output_tokens, route=route, direction="output")
    if paid.microdollars is None:
        _count(metrics.UNPRICED, 1, route=route)
    else:
        _count(metrics.COST, paid.microdollars, route=route)


def reused(route: str) -> None:
    """An answer was found in the store: nobody was called."""
    _count(metrics.REUSED, 1, route=route)


class Waiting:
    """How long ago this attempt was scheduled, from the moment a worker took it up.

    The time in the queue is the server's own difference and the time here this machine's: the
    clocks of two machines are never compared, since one may be seconds ahead of the other.
    """

    def __init__(self) -> None:
        info = activity.info()
        self._queued = (info.started_time - info.current_attempt_scheduled_time).total_seconds()
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        return max(0.0, self._queued) + time.monotonic() - self._since


def queued_for(route: str, seconds: float) -> None:
    """This attempt has its slot: how long it waited, in the queue and in this worker."""
    _time(metrics.QUEUE_DELAY, seconds, route=route)


def _count(measure: Measure, value: int, **labels: str) -> None:
    activity.metric_meter().create_counter(measure.name, measure.description).add(value, labels)


def _time(measure: Measure, seconds: float, **labels: str) -> None:
    activity.metric_meter().create_histogram_timedelta(measure.name, measure.description).record(
        timedelta(seconds=max(0.0, seconds)), labels
    )
