"""The tail of a document: a page whose call takes too long is asked of another route too.

Both calls are paid for, so only pages that hold up the end are asked twice, and few of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quire.contracts.selection import FlightView, RouteView, Snapshot
from quire.domain.routing.speed import LEAST_ANSWERS, slowest_s

# A call is old when it takes so long, and so many times as long as the slowest of the last ones.
OLD_S = 10.0
OLD_FACTOR = 2.0


@dataclass(frozen=True)
class Hedges:
    """Which page to ask of which route too, when the next call is old, and whether one is old now
    but finds no route free."""

    pairs: tuple[tuple[int, int], ...] = ()
    wake_at: float | None = None
    due: bool = False


def is_stuck(snapshot: Snapshot, index: int) -> bool:
    """Whether a call of this route is old: what is queued behind it may wait for long."""
    old = _old_after_s(snapshot.routes[index], ())
    return any(f.route == index and snapshot.now - f.since >= old for f in snapshot.flights)


def choose_hedges(
    snapshot: Snapshot,
    begun: Sequence[FlightView],
    typical: Sequence[float],
    is_free: Callable[[int], bool],
) -> Hedges:
    """For a document of which no page waits. `begun` are attempts that start just now, `is_free`
    says which routes take one more call."""
    every = [ms for view in snapshot.routes for ms in view.latencies]
    single = [f for f in (*snapshot.flights, *begun) if not f.hedged]
    vendors = [view for view in snapshot.routes if not view.route.is_last_resort]
    if len(vendors) < 2 or len(every) + len(single) <= LEAST_ANSWERS:
        return Hedges()
    if len(every) < LEAST_ANSWERS:
        # Too little is known as yet: look again when the oldest call could be old at all.
        moments = [f.since + OLD_S for f in single if f.since + OLD_S > snapshot.now]
        return Hedges(wake_at=min(moments, default=None), due=not moments)
    pairs: list[tuple[int, int]] = []
    wakes: list[float] = []
    due = False
    taken: set[int] = set()
    for flight in sorted(single, key=lambda f: (f.since, f.page)):
        if len(pairs) >= snapshot.hedges_left:
            break
        old = _old_after_s(snapshot.routes[flight.route], every)
        if snapshot.now - flight.since < old:
            wakes.append(flight.since + old)
            continue
        free = [
            i
            for i in _others(snapshot, flight)
            if i not in taken and typical[i] < old and is_free(i)
        ]
        if not free:
            due = True
            continue
        # One at a time on a route: what it has free is counted anew by the next selection.
        fastest = min(free, key=lambda i: (typical[i], i))
        pairs.append((flight.page, fastest))
        taken.add(fastest)
    return Hedges(tuple(pairs), min(wakes, default=None), due)


def _old_after_s(view: RouteView, every: Sequence[int]) -> float:
    return max(OLD_S, OLD_FACTOR * slowest_s(view.latencies or every))


def _others(snapshot: Snapshot, flight: FlightView) -> list[int]:
    """The vendors' routes that have answered and that the page may be given to."""
    return [
        i
        for i, view in enumerate(snapshot.routes)
        if i != flight.route
        and i not in flight.barred
        and view.latencies
        and not view.route.is_last_resort
    ]
