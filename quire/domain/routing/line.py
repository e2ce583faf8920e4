"""A line (a route, or its provider) under the adaptive rule: pure, as the breaker.

A vendor that asks for a slower pace is slowed down: the line stays closed, rests a moment and then
takes fewer calls at once. One that fails is asked again by one probe after a quarter of a second, a
half, 1, 2, 4 seconds. One that never answered and failed three times, or has been silent for 20 s,
looks dead and rests long; only then do its pages go elsewhere for good.

As in breaker.py an attempt remembers `changes` at its start: many failures that began together are
one strike, and not one each.
"""

import hashlib
from typing import Literal, NamedTuple

from quire.contracts.codes import FailureKind
from quire.contracts.routing import Breaker, BreakerPolicy, BreakerState, Sort
from quire.contracts.steps import AttemptFailure, AttemptRest
from quire.domain.errors import MEANING
from quire.domain.routing.breaker import cooldown, lose_probe

FIRST_REST_S = 0.25
LONGEST_REST_S = 4.0
# A short rest is drawn out by up to this share, so that documents do not come back together.
SPREAD = 0.25
# A line that never answered looks dead after so many strikes; any, after so long without an answer.
STRIKES = 3
PATIENCE_S = 20.0
# A vendor that asks for days gets an hour: no document waits longer.
LONGEST_PAUSE_S = 3600.0

FailureSort = Literal["pace", "sick", "hung", "out"]


class Blow(NamedTuple):
    """One failure as its line sees it."""

    sort: FailureSort
    reason: str
    # When the call began, which only matters for one that hung.
    began: float
    retry_after_s: float | None = None
    # How many other calls of the route are still under way.
    left: int = 0
    # Between 0 and 1: by how much of the spread its rest is drawn out.
    spread: float = 0.0


def sort_of(failure: AttemptFailure) -> FailureSort:
    """What a failure that counts says of the vendor. One that is overloaded and says when to come
    back asks for a pace, as a rate limit does."""
    if MEANING[failure.kind].rests == "long":
        return "out"
    if failure.kind is FailureKind.TIMEOUT:
        return "hung"
    overloaded = failure.kind is FailureKind.SERVER and _positive(failure.retry_after_s) > 0
    return "pace" if failure.kind is FailureKind.RATE or overloaded else "sick"


def looks_dead(line: Breaker, now: float) -> bool:
    """Whether nothing is to be hoped of it in this document, as far as can be seen now."""
    if not line.streak:
        return False
    if line.sort == "out" or line.learned:
        return True
    if line.sort == "sick" and not line.answered and line.streak >= STRIKES:
        return True
    return now >= patience_ends(line)


def patience_ends(line: Breaker) -> float:
    """When a line that goes on failing looks dead."""
    return max(line.since, line.last_answer) + PATIENCE_S


def answer(
    line: Breaker, begun_at: int, now: float, limit: int | None, pause_s: float | None = None
) -> Breaker:
    """A call begun at change `begun_at` was answered; `limit` is how many calls at once its route
    may have at most, and `pause_s` what the vendor asks for before the next."""
    width = None if line.width is None else line.width + 1
    if width is not None and limit is not None and width >= limit:
        width = None
    alive = {"answered": True, "last_answer": now, "width": width, "learned": False}
    if begun_at != line.changes:
        # It is alive, but the answer is from before it changed: it opens nothing.
        alive["streak"] = 0 if line.sort == "pace" else line.streak
        return _paused(line.model_copy(update=alive), now, pause_s)
    # A rest that the vendor asked for when it turned others away is kept.
    rests = line.state is BreakerState.CLOSED and line.sort == "pace" and line.retry_at > now
    closed = Breaker(
        changes=line.changes + (line.state is not BreakerState.CLOSED),
        retry_at=line.retry_at,
        sort="pace" if rests else "",
    )
    return _paused(closed.model_copy(update=alive), now, pause_s)


def fail(line: Breaker, begun_at: int, now: float, policy: BreakerPolicy, blow: Blow) -> Breaker:
    """A call begun at change `begun_at` failed in a way that counts."""
    if blow.sort == "pace" and begun_at != line.changes and line.state is BreakerState.CLOSED:
        # One of a herd that was turned away together: no strike of its own.
        asked = now + min(_positive(blow.retry_after_s), policy.long_rest_s)
        later = max(line.retry_at, asked)
        return line.model_copy(update={"width": _narrowed(line, blow.left), "retry_at": later})
    if begun_at != line.changes or line.state is BreakerState.OPEN:
        return line
    if blow.sort == "hung" and line.last_answer >= blow.began:
        # Others were answered meanwhile: it says nothing of the line, but the probe is over.
        return lose_probe(line, begun_at)
    return _struck(line, now, policy, blow)


def learn(line: Breaker, begun_at: int, chosen_at: float, now: float, told: AttemptRest) -> Breaker:
    """An attempt begun at change `begun_at` was told that the line looks dead: it made no call.

    That is no change: the one call that a worker lets through may still open the line.
    """
    probed = line.state is BreakerState.HALF_OPEN
    if line.last_answer > chosen_at or (probed and begun_at != line.changes):
        # This document knows better, or is about to.
        return lose_probe(line, begun_at)
    return line.model_copy(
        update={
            "state": BreakerState.OPEN,
            "changes": line.changes + probed,
            "retry_at": max(line.retry_at, now + min(_positive(told.rest_s), LONGEST_PAUSE_S)),
            "reason": told.reason,
            "streak": max(1, line.streak),
            "sort": "sick",
            "since": now - _positive(told.failing_s),
            "learned": True,
        }
    )


def _struck(line: Breaker, now: float, policy: BreakerPolicy, blow: Blow) -> Breaker:
    sort: Sort = "sick" if blow.sort == "hung" else blow.sort
    paced = sort == "pace"
    began = blow.began if blow.sort == "hung" else now
    struck = Breaker(
        state=BreakerState.CLOSED if paced else BreakerState.OPEN,
        failures=line.failures + 1,
        changes=line.changes + 1,
        reason=blow.reason,
        # Strikes are of one sort: a vendor that slows us down is not about to die.
        streak=line.streak + 1 if line.sort in ("", sort) else 1,
        sort=sort,
        since=line.since if line.streak else began,
        last_answer=line.last_answer,
        answered=line.answered or paced,
        width=_narrowed(line, blow.left) if paced else line.width,
        long_rests=line.long_rests,
    )
    if looks_dead(struck, now):
        struck = struck.model_copy(update={"long_rests": line.long_rests + 1})
        out = sort == "out"
        rest = cooldown(struck.long_rests, policy, blow.retry_after_s, long_rest=out)
    else:
        # The exponent is capped as in breaker.py.
        rest = min(FIRST_REST_S * 2.0 ** min(struck.streak - 1, 60), LONGEST_REST_S)
        rest *= 1 + SPREAD * blow.spread
        rest = max(rest, min(_positive(blow.retry_after_s), policy.long_rest_s))
    return struck.model_copy(update={"retry_at": max(line.retry_at, now + rest)})


def spread_of(*names: object) -> float:
    """Between 0 and 1, from a hash and not from chance: a replay rests as long."""
    digest = hashlib.sha256(":".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def _narrowed(line: Breaker, left: int) -> int:
    """As many calls as are still under way, and one more."""
    width = left + 1 if line.width is None else min(line.width, left + 1)
    return max(1, width)


def _paused(line: Breaker, now: float, pause_s: float | None) -> Breaker:
    """The vendor has said that its rate is used up: it rests, and has not failed."""
    pause = _positive(pause_s)
    if not pause or line.state is not BreakerState.CLOSED:
        return line
    asked = now + min(pause, LONGEST_PAUSE_S)
    return line.model_copy(update={"sort": "pace", "retry_at": max(line.retry_at, asked)})


def _positive(seconds: float | None) -> float:
    """What a vendor says may be missing, 0, negative or no number: all that is nothing."""
    return seconds if seconds is not None and seconds > 0 else 0.0
