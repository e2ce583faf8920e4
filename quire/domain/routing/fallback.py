"""When a page that no route takes now still waits, and when it falls back to MuPDF's text."""

import hashlib
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from quire.contracts.routing import BreakerState
from quire.contracts.selection import PageView, RouteView, Snapshot
from quire.domain.routing.line import looks_dead, patience_ends

# A route that opens so shortly before the deadline opens too late.
TOO_LATE_S = 0.5


@dataclass(frozen=True)
class FallBack:
    """No vendor will read the page before the deadline: a last resort may, else it gets MuPDF's
    text."""


@dataclass(frozen=True)
class WaitForRoute:
    """A route may take the page yet: it waits, and looks again at this time if nothing happens."""

    until: float | None


@dataclass(frozen=True)
class AnotherRound:
    """Every route failed, not all for good: the page tries them again from this time on."""

    until: float


@dataclass(frozen=True)
class TryAgain:
    """Every route failed the page, and these may be tried again as soon as they are open."""

    routes: tuple[int, ...]


Fate = FallBack | WaitForRoute | AnotherRound | TryAgain


def is_adaptive(snapshot: Snapshot) -> bool:
    """Whether pages wait by what their routes look like, and not by rounds."""
    mode = snapshot.policy.mode
    return mode == "adaptive" or (mode == "hold" and snapshot.adaptive)


def when_exhausted(
    snapshot: Snapshot,
    page: PageView,
    vendors: Sequence[int],
    opens_at: Callable[[int], float],
    probing: Set[str] = frozenset(),
) -> Fate:
    """What becomes of a page that no vendor's route takes now; `vendors` are the routes that it
    may still try, all of them resting. In the mode `fail_fast` it falls back at once.

    `probing` are the routes and providers to which this very selection has sent a probe.
    """
    if is_adaptive(snapshot):
        return _adaptive(snapshot, page, vendors, opens_at, probing)
    if snapshot.policy.mode == "hold":
        return _hold(snapshot, page, vendors, opens_at)
    return FallBack()


def _adaptive(
    snapshot: Snapshot,
    page: PageView,
    vendors: Sequence[int],
    opens_at: Callable[[int], float],
    probing: Set[str],
) -> Fate:
    """It falls back only when each of its routes is gone, or has failed it for good."""
    hope = [i for i in vendors if not _gone(snapshot, i, opens_at(i))]
    if hope:
        moments = [moment for i in hope for moment in _moments(snapshot, i, opens_at(i))]
        return WaitForRoute(min((m for m in moments if m > snapshot.now), default=None))
    lifted = _lifted(snapshot, page)
    if any(not _gone(snapshot, i, opens_at(i)) for i in lifted):
        return TryAgain(tuple(lifted))
    if any(_is_probed(snapshot.routes[i], probing) for i in (*vendors, *lifted)):
        return WaitForRoute(None)
    return FallBack()


def _gone(snapshot: Snapshot, index: int, opens_at: float) -> bool:
    """Whether the route will not read a page of this document any more. Who holds pages believes
    no vendor dead: it may come back until the deadline."""
    if opens_at >= snapshot.deadline - TOO_LATE_S:
        return True
    view = snapshot.routes[index]
    both = (view.breaker, view.provider_breaker)
    if view.in_flight and any(line.learned for line in both):
        # A worker that tells us so lets one call through: that may be ours, under way.
        return False
    return snapshot.policy.mode != "hold" and any(looks_dead(b, snapshot.now) for b in both)


def _moments(snapshot: Snapshot, index: int, opens_at: float) -> list[float]:
    """When the route opens, and when it looks dead if it goes on failing."""
    view = snapshot.routes[index]
    failing = [b for b in (view.breaker, view.provider_breaker) if b.streak]
    ends = [patience_ends(b) for b in failing] if snapshot.policy.mode != "hold" else []
    return [opens_at, *ends]


def _is_probed(view: RouteView, probing: Set[str]) -> bool:
    states = (view.breaker.state, view.provider_breaker.state)
    return BreakerState.HALF_OPEN in states or not probing.isdisjoint(
        {view.route.key, view.route.provider}
    )


def _lifted(snapshot: Snapshot, page: PageView) -> list[int]:
    """The vendors' routes that have failed the page, but not for good."""
    return [
        i
        for i, view in enumerate(snapshot.routes)
        if i in page.barred
        and i not in page.barred_for_good
        and not view.route.is_last_resort
        and view.route.serves(page.classification)
    ]


def _hold(
    snapshot: Snapshot,
    page: PageView,
    vendors: Sequence[int],
    opens_at: Callable[[int], float],
) -> Fate:
    """The page waits for the route that opens first, or, when it has tried all of them, takes
    another round; both only before the deadline. Rounds are limited where the page itself is at
    fault: a vendor that fails may come back, however often it was asked."""
    policy = snapshot.policy
    resting = [opens_at(i) for i in vendors]
    if resting and min(resting) < snapshot.deadline:
        return WaitForRoute(min(resting))
    lifted = _lifted(snapshot, page)
    if page.round + 1 >= policy.max_rounds:
        lifted = [i for i in lifted if i in page.let_down_by]
    if not lifted:
        return FallBack()
    delay = policy.base_delay_s * 2.0 ** min(page.round, policy.max_rounds - 1)
    if policy.max_delay_s is not None:
        delay = min(delay, policy.max_delay_s)
    delay += policy.jitter_max_s * _fraction(snapshot.job_id, page.page, page.round)
    opens = min(max(opens_at(i), snapshot.now + delay) for i in lifted)
    return FallBack() if opens >= snapshot.deadline else AnotherRound(opens)


def _fraction(job_id: str, page: int, round_: int) -> float:
    """Jitter from a hash and not from chance: the same document spreads the same way."""
    digest = hashlib.sha256(f"{job_id}:{page}:{round_}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32
