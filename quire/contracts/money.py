"""What one answer cost.

Providers and `recognize_page` write it into receipts; workflow, results and lists add it up."""

from typing import NamedTuple


class Paid(NamedTuple):
    """One answer's tokens and price in millionths of a dollar: short, since history holds many."""

    input_tokens: int = 0
    output_tokens: int = 0
    microdollars: int | None = 0

    @classmethod
    def of(cls, input_tokens: int, output_tokens: int, cost_usd: float | None) -> "Paid":
        """From a price in dollars; None when it is unknown."""
        return cls(input_tokens, output_tokens, None if cost_usd is None else _micro(cost_usd))

    def plus(self, other: "Paid") -> "Paid":
        """Both together; with an unknown price among them, that of both is unknown."""
        known = self.microdollars is not None and other.microdollars is not None
        return Paid(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.microdollars or 0) + (other.microdollars or 0) if known else None,
        )

    @property
    def dollars(self) -> float | None:
        """The price in dollars; None when it is unknown."""
        return None if self.microdollars is None else self.microdollars / 1e6


NOTHING = Paid()


def _micro(dollars: float) -> int:
    return round(dollars * 1e6)
