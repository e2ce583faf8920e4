"""When a page that no route takes now still waits, and when it falls back to MuPDF's text."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quire.contracts.selection import PageView, Snapshot


@dataclass(frozen=True)
class FallBack:
    """No vendor will read the page before the deadline: a last resort may, else it gets MuPDF's
    text."""


@dataclass(frozen=True)
class WaitForRoute:
    """A resting route opens before the deadline: the page waits for it."""

    until: float


@dataclass(frozen=True)
class AnotherRound(WaitForRoute):
    """Every route failed, not all for good: the page tries them again from this time on."""


def when_exhausted(
    snapshot: Snapshot,
    page: PageView,
    vendors: Sequence[int],
    opens_at: Callable[[int], float],
) -> FallBack | WaitForRoute:
    """What becomes of a page that no vendor's route takes now.

    `vendors` are the routes that it may still try, all of them resting. By default the page falls
    back at once. In hold mode it waits for the route that opens first, or, when it has tried all
    of them, takes another round, as long as rounds are left; both only before the deadline.
    """
    policy = snapshot.policy
    if policy.mode != "hold":
        return FallBack()
    resting = [opens_at(i) for i in vendors]
    if resting and min(resting) < snapshot.deadline:
        return WaitForRoute(min(resting))
    lifted = [
        i
        for i in page.barred
        if i not in page.barred_for_good and not snapshot.routes[i].route.is_last_resort
    ]
    if not lifted or page.round + 1 >= policy.max_rounds:
        return FallBack()
    delay = policy.base_delay_s * 2.0**page.round
    if policy.max_delay_s is not None:
        delay = min(delay, policy.max_delay_s)
    delay += policy.jitter_max_s * _fraction(snapshot.job_id, page.page, page.round)
    opens = min(max(opens_at(i), snapshot.now + delay) for i in lifted)
    return FallBack() if opens >= snapshot.deadline else AnotherRound(opens)


def _fraction(job_id: str, page: int, round_: int) -> float:
    """Jitter from a hash and not from chance: the same document spreads the same way."""
    digest = hashlib.sha256(f"{job_id}:{page}:{round_}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32
