"""The lines of one document under the adaptive rule; see line.py."""

from collections.abc import Iterable

from quire.contracts.routing import BreakerPolicy, BreakerState, Route
from quire.contracts.steps import AttemptFailure, AttemptRest
from quire.domain.routing import line as lines
from quire.domain.routing.health import BegunAt, Call, Health
from quire.domain.routing.time_budget import LEAST_CUT_S


class AdaptiveHealth(Health):
    """As `Health`, but pace is told from sickness, and a line knows when it last answered."""

    def __init__(self, routes: Iterable[Route], policy: BreakerPolicy, job_id: str) -> None:
        super().__init__(routes, policy)
        self._job_id = job_id

    def is_well(self, route: Route) -> bool:
        """Both lines are closed, and neither was just refused."""
        return super().is_well(route) and not any(line.streak for line in self.of(route))

    def answered(
        self,
        route: Route,
        begun_at: BegunAt,
        now: float,
        pause_s: float | None = None,
        limit: int | None = None,
    ) -> None:
        """The vendor answered, whatever it said; it may ask for a pause before the next call."""
        of_route = self.breakers[route.key]
        limit = limit or route.limit
        self.breakers[route.key] = lines.answer(of_route, begun_at[0], now, limit, pause_s)
        self._succeed(route.provider, begun_at[1], now)

    def rested(
        self, route: Route, begun_at: BegunAt, chosen_at: float, now: float, told: AttemptRest
    ) -> None:
        """A worker made no call: the route, or its provider, looks dead to it."""
        for key, begun in zip((route.key, route.provider), begun_at, strict=True):
            if (key == route.provider) is told.of_provider:
                self.breakers[key] = lines.learn(self.breakers[key], begun, chosen_at, now, told)
            else:
                self._lose(key, begun)

    def _timeout_counts(self, route: Route, given_s: float) -> bool:
        """A call that was cut off for what others took had enough time too."""
        return super()._timeout_counts(route, given_s) or given_s >= LEAST_CUT_S

    def _fail(
        self, key: str, begun_at: int, failure: AttemptFailure, now: float, call: Call
    ) -> None:
        line = self.breakers[key]
        # Where its own time is not known, it is taken to have begun when it was chosen.
        lasted = max(0, failure.milliseconds) / 1000
        blow = lines.Blow(
            sort=lines.sort_of(failure),
            reason=failure.kind.value,
            began=max(call.chosen_at, now - lasted) if lasted else call.chosen_at,
            retry_after_s=failure.retry_after_s,
            left=call.left,
            spread=lines.spread_of(self._job_id, key, line.streak),
        )
        self.breakers[key] = lines.fail(line, begun_at, now, self.policy, blow)

    def _succeed(self, key: str, begun_at: int, now: float) -> None:
        """A provider whose route spoke is not silent."""
        self.breakers[key] = lines.answer(self.breakers[key], begun_at, now, None)

    def allow_probes(self, now: float) -> None:
        """A person knows more than a cooldown: what rests may be tried now."""
        super().allow_probes(now)
        for key, line in self.breakers.items():
            if line.state is BreakerState.CLOSED and line.retry_at > now:
                self.breakers[key] = line.model_copy(update={"retry_at": now})


def health_of(routes: Iterable[Route], policy: BreakerPolicy, job_id: str) -> Health:
    """The health of a document's routes, by the rule that its plan names."""
    if policy.trip == "adaptive":
        return AdaptiveHealth(routes, policy, job_id)
    return Health(routes, policy)
