"""The circuit breaker: a pure function of (state, outcome, now).

closed ──failure──> open ──cooldown over, one probe──> half_open ──success──> closed
                      ^                                    │
                      └──────────── failure, longer ───────┘

An attempt remembers the breaker's `changes` at its start. A result that comes back after the
breaker changed is out of date and moves nothing: many failures that began together open the
breaker once, not once each.
"""

from typing import Literal

from quire.contracts.routing import Breaker, BreakerPolicy, BreakerState

# In a window of time: a share of fewer calls says nothing, and state must not grow without end.
_LEAST_CALLS = 5
_MOST_CALLS = 1000

Admission = Literal["yes", "probe", "no"]


def admits(breaker: Breaker, now: float) -> Admission:
    """May an attempt start now? `probe` means: exactly one may. A closed breaker of the sort
    `pace` rests too, and then admits as many as its width says."""
    if breaker.state is BreakerState.CLOSED:
        return "no" if breaker.sort == "pace" and now < breaker.retry_at else "yes"
    if breaker.state is BreakerState.OPEN and now >= breaker.retry_at:
        return "probe"
    return "no"


def begin_probe(breaker: Breaker) -> Breaker:
    """The one probe has started."""
    return breaker.model_copy(
        update={"state": BreakerState.HALF_OPEN, "changes": breaker.changes + 1}
    )


def lose_probe(breaker: Breaker, begun_at: int) -> Breaker:
    """The probe ended without a verdict: its slot is free for the next one."""
    if breaker.state is not BreakerState.HALF_OPEN or begun_at != breaker.changes:
        return breaker
    return breaker.model_copy(update={"state": BreakerState.OPEN, "changes": breaker.changes + 1})


def succeed(breaker: Breaker, begun_at: int, now: float, policy: BreakerPolicy) -> Breaker:
    """An attempt begun at change `begun_at` was answered."""
    if begun_at != breaker.changes:
        return breaker
    if breaker.state is BreakerState.HALF_OPEN:
        return Breaker(changes=breaker.changes + 1, retry_at=breaker.retry_at)
    if policy.trip == "window":
        return _slide(breaker, "o", now, policy)
    return breaker


def fail(
    breaker: Breaker,
    begun_at: int,
    now: float,
    policy: BreakerPolicy,
    *,
    reason: str,
    retry_after_s: float | None = None,
    long_rest: bool = False,
) -> Breaker:
    """An attempt begun at change `begun_at` failed in a way that counts."""
    if begun_at != breaker.changes or breaker.state is BreakerState.OPEN:
        return breaker
    counting = breaker.state is BreakerState.CLOSED and policy.trip == "window" and not long_rest
    if counting:
        counted = _slide(breaker, "x", now, policy)
        if not _too_many_failed(counted.recent, policy):
            return counted
    failures = breaker.failures + 1
    rest = cooldown(failures, policy, retry_after_s, long_rest=long_rest)
    return Breaker(
        state=BreakerState.OPEN,
        retry_at=max(breaker.retry_at, now + rest),
        failures=failures,
        changes=breaker.changes + 1,
        reason=reason,
    )


def cooldown(
    failures: int, policy: BreakerPolicy, retry_after_s: float | None, *, long_rest: bool
) -> float:
    """How long a breaker stays open after its first, second, ... failure."""
    # The exponent is capped because 2.0**1100 overflows and a document may well live that long.
    backoff = min(policy.base_backoff_s * 2.0 ** min(failures - 1, 60), policy.max_backoff_s)
    if policy.cooldown_s is not None:
        backoff = policy.cooldown_s
    if long_rest:
        backoff = max(backoff, policy.long_rest_s)
    # A vendor that asks for days gets the longest rest there is: no document waits longer.
    return max(backoff, min(retry_after_s or 0.0, policy.long_rest_s))


def _slide(breaker: Breaker, outcome: str, now: float, policy: BreakerPolicy) -> Breaker:
    """The breaker with one more call in its window, and without those that have left it."""
    recent = breaker.recent + outcome
    if policy.window_s is None:
        return breaker.model_copy(update={"recent": recent[-policy.window :]})
    times = (*breaker.times, now)
    kept = min(_MOST_CALLS, sum(1 for time in times if time > now - policy.window_s))
    return breaker.model_copy(update={"recent": recent[-kept:], "times": times[-kept:]})


def _too_many_failed(recent: str, policy: BreakerPolicy) -> bool:
    if policy.window_s is None:
        return recent.count("x") / policy.window >= policy.threshold
    return len(recent) >= _LEAST_CALLS and recent.count("x") / len(recent) >= policy.threshold
