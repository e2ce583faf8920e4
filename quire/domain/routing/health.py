"""The breakers of one document: one for each route and one for each provider.

A route is used when both agree. A failure moves the breaker it speaks of: a rate limit the
route's, a refused key the provider's.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from quire.contracts.codes import FailureKind
from quire.contracts.page import PageError
from quire.contracts.routing import Breaker, BreakerPolicy, BreakerState, Route
from quire.contracts.steps import AttemptFailure, AttemptRest
from quire.domain.errors import MEANING, every_route_rests, no_model_configured
from quire.domain.routing import breaker as breakers
from quire.domain.routing.time_budget import timeout_counts

# Failures on our side, which do not count against the vendor.
OURS = (FailureKind.BUG, FailureKind.RENDER, FailureKind.STORAGE)
# `changes` of the route's and of the provider's breaker when an attempt was begun.
BegunAt = tuple[int, int]


class Call(NamedTuple):
    """What the adaptive rule asks of a call that failed: when it was chosen, and how many others
    of its route are under way."""

    chosen_at: float = 0.0
    left: int = 0


UNKNOWN_CALL = Call()


class Health:
    """Each route's and provider's breaker; every attempt's end may move one. Written by the
    dispatch state of a workflow."""

    def __init__(self, routes: Iterable[Route], policy: BreakerPolicy) -> None:
        self.policy = policy
        self.breakers: dict[str, Breaker] = {}
        for route in routes:
            self.breakers[route.key] = Breaker()
            self.breakers[route.provider] = Breaker()

    def take_up(self, breakers: Mapping[str, Breaker]) -> None:
        """Go on from the breakers that an earlier run carried."""
        self.breakers.update(breakers)

    def of(self, route: Route) -> tuple[Breaker, Breaker]:
        """The breakers of the route and of its provider."""
        return self.breakers[route.key], self.breakers[route.provider]

    def is_well(self, route: Route) -> bool:
        """Both breakers are closed."""
        return all(breaker.state is BreakerState.CLOSED for breaker in self.of(route))

    def serves_others(self, route: Route, kind: FailureKind) -> bool:
        """No failure of its lines lasts. A timeout comes so late that this says nothing of it."""
        return kind is FailureKind.TIMEOUT or not any(line.streak for line in self.of(route))

    def reasons(self) -> list[str]:
        """Why breakers are not closed, each reason once."""
        return sorted({breaker.reason for breaker in self.breakers.values() if breaker.reason})

    def why_no_route(self) -> PageError:
        """Why a page that was never tried has no model: what keeps its routes away."""
        if not self.breakers:
            return no_model_configured()
        return every_route_rests(self.reasons())

    def allow_probes(self, now: float) -> None:
        """A person knows more than a cooldown: every open breaker may be probed now."""
        for key, breaker in self.breakers.items():
            if breaker.state is BreakerState.OPEN and breaker.retry_at > now:
                self.breakers[key] = breaker.model_copy(update={"retry_at": now})

    def begin(self, route: Route, *, probe: bool) -> BegunAt:
        """An attempt starts; as a probe it takes the one place of every breaker that is open."""
        for key in (route.key, route.provider):
            if probe and self.breakers[key].state is not BreakerState.CLOSED:
                self.breakers[key] = breakers.begin_probe(self.breakers[key])
        of_route, of_provider = self.of(route)
        return of_route.changes, of_provider.changes

    def answered(
        self,
        route: Route,
        begun_at: BegunAt,
        now: float,
        pause_s: float | None = None,
        limit: int | None = None,
    ) -> None:
        """The vendor answered, whatever it said. Only the adaptive rule knows pauses, and widths:
        `limit` is how many calls at once all workers make, the route's own without it."""
        self._succeed(route.key, begun_at[0], now)
        self._succeed(route.provider, begun_at[1], now)

    def lost(self, route: Route, begun_at: BegunAt) -> None:
        """The attempt ended without a verdict: a probe's place is free again."""
        self._lose(route.key, begun_at[0])
        self._lose(route.provider, begun_at[1])

    def rested(
        self, route: Route, begun_at: BegunAt, chosen_at: float, now: float, told: AttemptRest
    ) -> None:
        """The attempt was told that its line looks dead. Only the adaptive rule asks for that."""
        self.lost(route, begun_at)

    def failed(
        self,
        route: Route,
        begun_at: BegunAt,
        failure: AttemptFailure,
        given_s: float,
        now: float,
        call: Call = UNKNOWN_CALL,
    ) -> None:
        """Count a failure where its meaning says."""
        meaning = MEANING[failure.kind]
        timed_out = failure.kind is FailureKind.TIMEOUT
        if failure.kind in OURS or (timed_out and not self._timeout_counts(route, given_s)):
            self.lost(route, begun_at)
        elif meaning.trips is None:
            self.answered(route, begun_at, now)
        elif meaning.trips == "provider":
            self._fail(route.provider, begun_at[1], failure, now, call)
            self._lose(route.key, begun_at[0])
        else:
            self._fail(route.key, begun_at[0], failure, now, call)
            if timed_out:
                self._lose(route.provider, begun_at[1])
            else:
                # The provider was reached and took the key: only this model is at fault.
                self._succeed(route.provider, begun_at[1], now)

    def _timeout_counts(self, route: Route, given_s: float) -> bool:
        return timeout_counts(given_s, route.timeout_s)

    def _fail(
        self, key: str, begun_at: int, failure: AttemptFailure, now: float, call: Call
    ) -> None:
        self.breakers[key] = breakers.fail(
            self.breakers[key],
            begun_at,
            now,
            self.policy,
            reason=failure.kind.value,
            retry_after_s=failure.retry_after_s,
            long_rest=MEANING[failure.kind].rests == "long",
        )

    def _succeed(self, key: str, begun_at: int, now: float) -> None:
        self.breakers[key] = breakers.succeed(self.breakers[key], begun_at, now, self.policy)

    def _lose(self, key: str, begun_at: int) -> None:
        self.breakers[key] = breakers.lose_probe(self.breakers[key], begun_at)


def barred_by(routes: Sequence[Route], index: int, kind: FailureKind) -> list[int]:
    """The places of the routes that such a failure on this one keeps a page away from."""
    bars = MEANING[kind].bars
    if bars == "route":
        return [index]
    return [
        place
        for place, route in enumerate(routes)
        if bars == "every_route" or route.provider == routes[index].provider
    ]
