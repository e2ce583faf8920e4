"""Tokens, as vendors count and bill them."""

from dataclasses import dataclass

#: More than any call can take; numbers beyond it would break what adds them up.
MOST_TOKENS = 10**9


@dataclass(frozen=True)
class Tokens:
    """Tokens of one or more calls; `read` includes the cached ones, which have other prices."""

    read: int = 0
    written: int = 0
    cache_read: int = 0
    cache_written: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.read + other.read,
            self.written + other.written,
            self.cache_read + other.cache_read,
            self.cache_written + other.cache_written,
        )


def whole(count: object) -> int:
    """A vendor's count of tokens; anything else counts as zero and must not fail a good page."""
    return min(count, MOST_TOKENS) if isinstance(count, int) and count > 0 else 0
