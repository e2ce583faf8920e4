"""What a document's last answers say of the time that a call takes."""

from collections.abc import Iterable, Sequence
from statistics import median_high

from quire.contracts.selection import FlightView, RouteView, Snapshot
from quire.domain.routing.time_budget import LEAST_CUT_S

# Fewer answers say nothing of how long the slowest take.
LEAST_ANSWERS = 5
# A call that takes so many times as long as the slowest of the last ones is not coming back.
CUT_FACTOR = 3.0
# Only a route that takes more than twice as long as others is ever passed over for them.
SLOWER = 2.0


def slowest_s(latencies: Iterable[int]) -> float:
    """The longest of these answers in seconds; 0 without any."""
    return max(latencies, default=0) / 1000


def learned_cut(timeout_s: float, latencies: Sequence[int]) -> float:
    """How long a call may take, as the route's last answers have it."""
    if len(latencies) < LEAST_ANSWERS:
        return timeout_s
    return min(timeout_s, _cut(latencies))


def probe_cut(timeout_s: float, latencies: Sequence[int], *, others_answer: bool) -> float:
    """How long a probe may take: while other routes answer, nobody waits a whole timeout for it."""
    return min(timeout_s, _cut(latencies)) if others_answer else timeout_s


def _cut(latencies: Sequence[int]) -> float:
    return max(LEAST_CUT_S, CUT_FACTOR * slowest_s(latencies))


def typical_s(view: RouteView, flights: Iterable[FlightView], index: int, now: float) -> float:
    """How long a call here takes: as its answers did, or as its oldest call has so far."""
    if view.latencies:
        return median_high(view.latencies) / 1000
    return max((now - flight.since for flight in flights if flight.route == index), default=0.0)


class Speeds:
    """The routes of one snapshot by their speed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._views = snapshot.routes
        self._waiting = max(snapshot.waiting, len(snapshot.pages))
        self.typical = [
            typical_s(view, snapshot.flights, index, snapshot.now)
            for index, view in enumerate(snapshot.routes)
        ]

    def too_slow(self, index: int, usable: Iterable[int], *, ahead: int = 0) -> bool:
        """Whether faster routes would have read all that waits before this one had read one page,
        and the `ahead` that it is queued behind.

        `usable` are the routes that this very page may be given to now: routes that are barred to
        it, or that rest, would not read it any sooner.
        """
        mine = self.typical[index] * (1 + ahead / self._views[index].limit)
        faster = [
            i
            for i in usable
            if self._views[i].latencies and self.typical[i] * SLOWER < mine and i != index
        ]
        if not faster:
            return False
        # A latency of 0 is possible where answers come from a cache.
        rate = sum(self._views[i].width / max(self.typical[i], 0.001) for i in faster)
        return mine > self._waiting / rate + min(self.typical[i] for i in faster)
