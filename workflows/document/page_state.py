"""One page that needs vision, from its survey to its end."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from quire.contracts.carried import CarriedPage
from quire.contracts.money import NOTHING, Paid
from quire.contracts.page import AttemptNote, Classification, PageError, PageRecord
from quire.contracts.routing import PageView


@dataclass
class Page:
    """One page that needs vision, until it is done."""

    page: int
    classification: Classification
    barred: list[int] = field(default_factory=list)
    barred_for_good: list[int] = field(default_factory=list)
    round: int = 0
    not_before: float = 0.0
    attempts: list[AttemptNote] = field(default_factory=list)
    error: PageError | None = None
    take: int = 0
    # How many of the attempts were made before a person had the page read again.
    past: int = 0
    # A good reading that stands if the page cannot be read again.
    earlier: PageRecord | None = None
    # What this run paid: for the reading, for what did not count, for an earlier reading.
    paid: Paid = NOTHING
    wasted: Paid = NOTHING
    paid_before: Paid = NOTHING

    @classmethod
    def from_carried(cls, carried: CarriedPage, classification: Classification) -> "Page":
        return cls(
            page=carried.page,
            classification=classification,
            barred=list(carried.barred),
            barred_for_good=list(carried.barred_for_good),
            round=carried.round,
            not_before=carried.not_before,
            attempts=list(carried.attempts),
            error=carried.error,
            take=carried.take,
            past=carried.past,
            earlier=carried.earlier,
            wasted=carried.wasted,
            paid_before=carried.paid_before,
        )

    def carried(self) -> CarriedPage:
        return CarriedPage(
            page=self.page,
            barred=tuple(self.barred),
            barred_for_good=tuple(self.barred_for_good),
            round=self.round,
            not_before=self.not_before,
            attempts=tuple(self.attempts),
            error=self.error,
            take=self.take,
            past=self.past,
            earlier=self.earlier,
            wasted=self.wasted,
            paid_before=self.paid_before,
        )

    def view(self) -> PageView:
        """What the selection needs to know."""
        return PageView(
            page=self.page,
            classification=self.classification,
            barred=tuple(self.barred),
            barred_for_good=tuple(self.barred_for_good),
            round=self.round,
            not_before=self.not_before,
        )

    @property
    def moved(self) -> tuple[int, int] | None:
        """From which route to which the last attempt took the page, if it went elsewhere.

        What was tried before a person had it read again is no part of this reading.
        """
        routes = [note.route for note in self.attempts[self.past :][-2:]]
        return (routes[0], routes[1]) if len(set(routes)) == 2 else None

    def bar(self, routes: Iterable[int], *, for_good: bool) -> None:
        """Never try these again; or, if not for good, not in this round."""
        for route in routes:
            if route not in self.barred:
                self.barred.append(route)
            if for_good and route not in self.barred_for_good:
                self.barred_for_good.append(route)

    def take_another_round(self, not_before: float) -> None:
        self.round += 1
        self.not_before = not_before
        self.barred = list(self.barred_for_good)
