"""What reading a document has taken so far.

One rule for every place that shows a cost: it is what this run of the job has paid, whether or
not the answer was good. What another run bought costs nothing here.
"""

from dataclasses import dataclass

from quire.contracts.money import Paid


@dataclass
class Spending:
    """The sum of many answers. An unknown price makes the whole a lower bound."""

    input_tokens: int = 0
    output_tokens: int = 0
    microdollars: int = 0
    unpriced: int = 0

    def add(self, *payments: Paid) -> None:
        """Add what was paid for some answers."""
        for paid in payments:
            self.input_tokens += paid.input_tokens
            self.output_tokens += paid.output_tokens
            self.microdollars += paid.microdollars or 0
            self.unpriced += paid.microdollars is None

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    @property
    def dollars(self) -> float | None:
        """The sum in dollars; None when a price is unknown."""
        return None if self.unpriced else self.microdollars / 1e6

    def words(self) -> str:
        """`$0.0421 for 12,345 tokens`; says so when a price is unknown."""
        dollars = f"${self.microdollars / 1e6:.4f}"
        if self.unpriced:
            dollars = f"at least {dollars}" if self.microdollars else "price unknown"
        return f"{dollars} for {self.tokens:,} tokens"
