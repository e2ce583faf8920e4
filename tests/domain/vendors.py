"""Vendors of a simulated document, each named after what a caller suffers. Seeded."""

import math
import random

from quire.contracts.routing import Route
from quire.domain.document.attempts import OK
from tests.domain.simulator import Outcome
from tests.domain.strategies import NOW

# The default chain: two models of one vendor, then one of another.
ROUTES = (
    Route(provider="openai", model="sol", limit=2, timeout_s=60, ahead=2),
    Route(provider="openai", model="terra", limit=2, timeout_s=60, ahead=2),
    Route(provider="anthropic", model="sonnet", limit=2, timeout_s=60, ahead=2),
)
HANGS = Outcome(OK, 1e9)


class Vendors:
    """All vendors together, answering after 4 s more or less. A fault overrides `fault`, which
    gets each call with its number, and says None where the call is answered."""

    def __init__(self, seed: int, median_s: float = 4.0) -> None:
        self.rng = random.Random(seed)
        self._median = math.log(median_s)
        self.calls = 0
        self.answers = 0

    def __call__(self, route: int, page: int, now: float) -> Outcome:
        self.calls += 1
        well = Outcome(OK, self.rng.lognormvariate(self._median, 0.5))
        outcome = self.fault(route, page, now - NOW) or well
        return outcome._replace(seconds=outcome.seconds * self.slower(route))

    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return None

    def slower(self, route: int) -> float:
        return 1.0


def refusal(retry_after_s: float | None = None) -> Outcome:
    return Outcome("RATE", 0.1, retry_after_s)


def failure() -> Outcome:
    return Outcome("SERVER", 0.1)


class EveryThirdRefused(Vendors):
    retry_after_s: float | None = None

    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return refusal(self.retry_after_s) if self.calls % 3 == 0 else None


class EveryThirdRefusedForTwoSeconds(EveryThirdRefused):
    retry_after_s = 2.0


class EveryThirdFails(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return failure() if self.calls % 3 == 0 else None


class AllRefusedForTenSeconds(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return refusal() if at < 10 else None


class AllRefused(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return refusal()


class EveryTenthHangs(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return HANGS if self.calls % 10 == 0 else None


class OneDead(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return failure() if ROUTES[route].provider == "openai" else None


class OneHangs(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return HANGS if ROUTES[route].provider == "openai" else None


class AllDead(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return failure()


class AllHang(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return HANGS


class OneTenTimesSlower(Vendors):
    def slower(self, route: int) -> float:
        return 10.0 if ROUTES[route].provider == "openai" else 1.0


class BurstThenRefused(Vendors):
    """Each route takes five calls at once, and then one every five seconds."""

    def __init__(self, seed: int, median_s: float = 4.0) -> None:
        super().__init__(seed, median_s)
        self._tokens: dict[int, tuple[float, float]] = {}

    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        tokens, since = self._tokens.get(route, (5.0, 0.0))
        tokens = min(5.0, tokens + (at - since) * 0.2)
        self._tokens[route] = (tokens - 1 if tokens >= 1 else tokens, at)
        return None if tokens >= 1 else refusal(5.0)


class OutageFromTenToTwentyFive(Vendors):
    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return failure() if 10 <= at < 25 else None


class PoisonPage(Vendors):
    """Page 7 makes every vendor fail; all others are read."""

    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        return failure() if page == 7 else None


class RandomOutages(Vendors):
    """One to three outages of up to 13 s, of any sort, on top of vendors that are flaky or hang."""

    def __init__(self, seed: int, median_s: float = 4.0) -> None:
        super().__init__(seed, median_s)
        chance = random.Random(seed * 7 + 1)
        self.outages = [self._outage(chance) for _ in range(chance.randint(1, 3))]
        self.flaky = chance.choice([0, 0, 0.1, 0.3])
        self.hangs = chance.choice([0, 0, 0.05])

    @staticmethod
    def _outage(chance: random.Random) -> tuple[float, float, Outcome]:
        begins = chance.choice([0.0, chance.uniform(6, 60)])
        # A vendor that never answered and fails three times looks dead: so none fails at first.
        kind = chance.choice(["RATE", "SERVER", "CONNECT"]) if begins else "RATE"
        retry_after = chance.choice([None, None, 3.0]) if kind == "RATE" else None
        return begins, begins + chance.uniform(1, 13), Outcome(kind, 0.1, retry_after)

    def fault(self, route: int, page: int, at: float) -> Outcome | None:
        for begins, ends, outcome in self.outages:
            if begins <= at < ends:
                return outcome
        luck = self.rng.random()
        if luck < self.flaky:
            return Outcome(self.rng.choice(["RATE", "SERVER"]), 0.1)
        return HANGS if luck < self.flaky + self.hangs else None
