"""The lines that look dead to one worker, in whatever document it called them: pure.

It judges by the rule of a document that was never answered (line.py): three failures, each after
a rest, or a refused key. Only documents without an answer of their own are told; any answer, and
any vendor that asks for a slower pace, is a sign of life and clears the line.
"""

from quire.contracts.routing import Breaker, BreakerPolicy, Route
from quire.contracts.steps import AttemptFailure, AttemptRest
from quire.domain.routing import line as lines
from quire.domain.routing.adaptive_health import AdaptiveHealth
from quire.domain.routing.breaker import admits, begin_probe
from quire.domain.routing.health import BegunAt, Call
from quire.domain.routing.time_budget import LEAST_CUT_S

# A probe that is not heard of for so long after its time is lost.
LEASE_MARGIN_S = 10.0
# After a probe that failed the next one may follow, whatever document it is of.
PROBE_EVERY_S = 5.0
# What nobody has tried for so long after its rest says nothing any more.
FORGOTTEN_AFTER_S = 60.0


class WorkerMemory(AdaptiveHealth):
    """Written by the gate of a worker, for each call and its end. `now` is the worker's clock."""

    def __init__(self, policy: BreakerPolicy) -> None:
        super().__init__((), policy, job_id="")
        # By provider: until when its one probe has the lease.
        self._leases: dict[str, float] = {}

    def rest_of(self, route: Route, now: float) -> AttemptRest | None:
        """What an attempt is told that must not call; None where it may, if only as the probe."""
        key = self._dead(route, now)
        if key is None or now >= self._leases.get(route.provider, now):
            return None
        line = self.breakers[key]
        return AttemptRest(
            reason=line.reason,
            rest_s=round(max(line.retry_at, self._leases[route.provider]) - now, 3),
            failing_s=round(now - line.since, 3),
            of_provider=key == route.provider,
        )

    def seconds_of(self, route: Route, seconds: float, now: float) -> float:
        """How long the call may take: nobody waits a whole timeout for what looks dead."""
        if self._dead(route, now) is None:
            return seconds
        return min(seconds, max(LEAST_CUT_S, route.timeout_s / 3))

    def begin_call(self, route: Route, seconds: float, now: float) -> BegunAt:
        """A call of at most so many seconds begins; the first to a line that looks dead is the
        probe, and has the lease of its provider."""
        dead = self._dead(route, now)
        if dead is not None:
            self._leases[route.provider] = now + seconds + LEASE_MARGIN_S
        for key in (route.key, route.provider):
            line = self.breakers.setdefault(key, Breaker())
            if admits(line, now) == "probe" or key == dead:
                self.breakers[key] = begin_probe(line)
        return self.of(route)[0].changes, self.of(route)[1].changes

    def answered(
        self,
        route: Route,
        begun_at: BegunAt,
        now: float,
        pause_s: float | None = None,
        limit: int | None = None,
    ) -> None:
        """The vendor answered: route and provider are alive."""
        for key in (route.key, route.provider):
            self._succeed(key, 0, now)
        self._leases.pop(route.provider, None)

    def call_failed(
        self, route: Route, begun_at: BegunAt, failure: AttemptFailure, seconds: float, now: float
    ) -> None:
        """The call ended so; `seconds` are what it was given."""
        self.failed(route, begun_at, failure, seconds, now)
        if self._dead(route, now) is not None:
            self._leases[route.provider] = now + PROBE_EVERY_S

    def call_lost(self, route: Route, begun_at: BegunAt) -> None:
        """The call was cancelled: the lease is free for the next."""
        self.lost(route, begun_at)
        self._leases.pop(route.provider, None)

    def _dead(self, route: Route, now: float) -> str | None:
        """The line that looked dead when it failed last: the provider's, or the route's."""
        for key in (route.provider, route.key):
            line = self.breakers.get(key, Breaker())
            if line.streak and now > line.retry_at + FORGOTTEN_AFTER_S:
                self.breakers[key] = Breaker(changes=line.changes + 1)
            elif line.long_rests:
                return key
        return None

    def _fail(
        self, key: str, begun_at: int, failure: AttemptFailure, now: float, call: Call
    ) -> None:
        sort = lines.sort_of(failure)
        if sort == "pace":
            self._succeed(key, begun_at, now)
            return
        began = now - max(0, failure.milliseconds) / 1000
        blow = lines.Blow(sort, failure.kind.value, began)
        self.breakers[key] = lines.fail(self.breakers[key], begun_at, now, self.policy, blow)

    def _succeed(self, key: str, begun_at: int, now: float) -> None:
        """It is alive; a document that was never answered judges by what comes after."""
        self.breakers[key] = Breaker(changes=self.breakers[key].changes + 1, last_answer=now)
