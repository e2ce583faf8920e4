"""The gate before every call: it remembers what failed here, also for other documents."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from activities.support.attempt import RouteAttempt
from activities.support.failures import resting, stood_down
from quire.contracts.codes import FailureKind
from quire.contracts.routing import BreakerPolicy
from quire.contracts.steps import AttemptFailure
from quire.domain.errors import MEANING, AttemptFailed
from quire.domain.routing.worker_memory import WorkerMemory

GATE_CLOSED_FOR_S = 10.0


class RouteGate:
    """Every call passes it. Breakers belong to the workflow of each document; the gate knows what
    a workflow does not know yet, and turns an attempt away without a call.

    Of its own document: attempts wait behind a route's slots, and when one fails, the next would
    start before the workflow can say stop. This opens by itself in case the failure was never
    reported there. Of other documents: `WorkerMemory`.
    """

    def __init__(
        self,
        policy: BreakerPolicy = BreakerPolicy(),  # noqa: B008 (it is frozen)
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._memory = WorkerMemory(policy)
        self._failed_at: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def turn_away(self, attempt: RouteAttempt) -> None:
        """Raise the failure that says why the attempt must not call."""
        if self.closed_for(attempt):
            raise stood_down(attempt.route)
        told = self._memory.rest_of(attempt.line, self._clock()) if attempt.asks else None
        if told is not None:
            raise resting(attempt.route, told)

    @contextmanager
    def call(self, attempt: RouteAttempt, seconds: float) -> Iterator[float]:
        """Around a call, whose end is remembered; gives how many of these seconds it may take."""
        began = self._clock()
        seconds = self._memory.seconds_of(attempt.line, seconds, began)
        begun_at = self._memory.begin_call(attempt.line, seconds, began)
        try:
            yield seconds
        except AttemptFailed as error:
            now = self._clock()
            failure = AttemptFailure(
                kind=error.kind,
                message="",
                milliseconds=round((now - began) * 1000),
                retry_after_s=error.retry_after_s,
            )
            self._memory.call_failed(attempt.line, begun_at, failure, seconds, now)
            raise
        except BaseException:
            self._memory.call_lost(attempt.line, begun_at)
            raise
        self._memory.answered(attempt.line, begun_at, self._clock())

    def closed_for(self, attempt: RouteAttempt) -> bool:
        """Whether a breaker of the attempt has failed here since the attempt began."""
        self._forget()
        return any(
            self._failed_at.get((attempt.run_id, scope), (-1, 0.0))[0] >= begun_at
            for scope, begun_at in attempt.scopes.items()
        )

    def failed(self, attempt: RouteAttempt, kind: FailureKind) -> None:
        """Remember a failure that will open a breaker."""
        meaning = MEANING[kind]
        if meaning.trips is None or not (attempt.brief.stand_down or meaning.rests == "long"):
            return
        if kind is FailureKind.TIMEOUT and (attempt.brief.adaptive or not attempt.had_time):
            # The breaker may not count it either, and then nothing would open the gate again.
            return
        scope = attempt.provider if meaning.trips == "provider" else attempt.route
        key = (attempt.run_id, scope)
        known = self._failed_at.pop(key, (-1, 0.0))[0]
        self._failed_at[key] = (max(known, attempt.scopes[scope]), self._clock())

    def _forget(self) -> None:
        while self._failed_at:
            key, (_, since) = next(iter(self._failed_at.items()))
            if self._clock() - since < GATE_CLOSED_FOR_S:
                break
            del self._failed_at[key]
