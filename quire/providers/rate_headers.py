"""What an answer's headers say of the rate that is left, in any vendor's spelling."""

import re
from collections.abc import Mapping
from datetime import datetime

# A rate comes back bit by bit: who waits longer than this waits for more than the next call.
LONGEST_PAUSE_S = 10.0
# What remains, and when it is whole again; of calls, then of tokens.
_CALLS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
)
_TOKENS = (
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
)
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")


def pause_s(headers: Mapping[str, str], *, under_way: int, tokens: int, now: float) -> float | None:
    """How long to wait before the next call: only where no more is left than is under way.

    `tokens` are those of this call; the others are taken to need as many.
    """
    pauses = [
        _seconds(headers.get(reset), now)
        for names, needed in ((_CALLS, under_way), (_TOKENS, under_way * tokens))
        for remaining, reset in names
        if 0 <= _number(headers.get(remaining)) <= needed
    ]
    longest = max(pauses, default=0.0)
    return min(longest, LONGEST_PAUSE_S) if longest > 0 else None


def _number(value: str | None) -> float:
    """What is missing, or is no number, is as if it were negative."""
    try:
        number = float(value) if value is not None else -1.0
    except ValueError:
        return -1.0
    return number if number == number else -1.0


def _seconds(value: str | None, now: float) -> float:
    """Seconds from now: `1.5`, `6m0s`, `20ms`, or a moment as RFC 3339 has it; 0 for anything
    else. A number that large is a moment too."""
    value = (value or "").strip()
    if _SPAN.fullmatch(value):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(value))
    seconds = _number(value)
    if seconds < 0:
        try:
            seconds = datetime.fromisoformat(value).timestamp() - now
        except (ValueError, OverflowError, OSError):
            return 0.0
    return seconds - now if seconds > now else seconds
