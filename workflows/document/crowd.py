"""A route that turns attempts away without a call, and how long it is left alone. Pure."""

from dataclasses import dataclass

# How long a route that other documents keep full is left alone, doubling while it stays so.
CROWDED_FOR_S = 2.0
CROWDED_AT_MOST_S = 60.0
STOOD_DOWN_FOR_S = 0.25


@dataclass(frozen=True)
class Crowd:
    """One route: until when it is left alone, and how often in a row it was found full."""

    until: float = 0.0
    strikes: int = 0

    def after_refusal(self, now: float, *, crowded: bool) -> "Crowd":
        """The route was full (`crowded`), or had just failed. A rest under way is not changed."""
        if self.until > now:
            return self
        if not crowded:
            # The failure that made the attempt stand down is about to arrive: a short rest.
            return Crowd(until=now + STOOD_DOWN_FOR_S, strikes=self.strikes)
        rest = min(CROWDED_FOR_S * 2.0**self.strikes, CROWDED_AT_MOST_S)
        return Crowd(until=now + rest, strikes=self.strikes + 1)
