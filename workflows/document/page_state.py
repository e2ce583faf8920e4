"""One page that needs vision, from its survey to its end."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from quire.contracts.carried import CarriedPage
from quire.contracts.codes import FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.contracts.page import AttemptNote, Classification, PageError, PageRecord, TextSource
from quire.contracts.selection import PageView
from quire.contracts.steps import AttemptFailure, AttemptReceipt
from quire.domain.document.attempts import CALLED_OFF, OK
from quire.domain.errors import MEANING
from quire.domain.routing.health import OURS

# How often a route may fail a page while it is well for others, and how many bad answers that is.
ROUNDS = 4
BAD_ANSWERS = 2
_KINDS = frozenset(FailureKind)


@dataclass
class PageState:
    """One page that needs vision, until it has ended. Written by `DispatchState` alone."""

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
    # A reading that stands if the page comes to none that is better.
    earlier: PageRecord | None = None
    # What this run paid: for the reading, for what did not count, for an earlier reading.
    paid: Paid = NOTHING
    wasted: Paid = NOTHING
    paid_before: Paid = NOTHING
    # When the last attempt began, or ended; for people.
    last_attempt: float = 0.0
    # A route for each failure that counts against the page, and when it last went to the back.
    strikes: list[int] = field(default_factory=list)
    back_since: float = 0.0

    @classmethod
    def to_read_again(
        cls, record: PageRecord, classification: Classification, paid_before: Paid
    ) -> "PageState":
        """An ended page that a person wants read again.

        A page that a model read before gets a take of its own, or the store would answer for it.
        """
        read = record.read_by is not None
        return cls(
            page=record.page,
            classification=classification,
            attempts=list(record.attempts),
            past=len(record.attempts),
            take=record.take + 1 if read and not record.source.degraded else record.take,
            earlier=record if read else None,
            wasted=record.wasted,
            paid_before=paid_before,
        )

    @classmethod
    def from_carried(cls, carried: CarriedPage, classification: Classification) -> "PageState":
        """The page as an earlier run left it."""
        lists: dict[str, Any] = {
            "barred": list(carried.barred),
            "barred_for_good": list(carried.barred_for_good),
            "attempts": list(carried.attempts),
            "strikes": list(carried.strikes),
        }
        return cls(classification=classification, **{**dict(carried), **lists})

    def carried(self) -> CarriedPage:
        """The page for the next run."""
        kept = {name: getattr(self, name) for name in CarriedPage.model_fields}
        return CarriedPage.model_validate(kept)

    def view(self) -> PageView:
        """What the selection needs to know."""
        return PageView(
            page=self.page,
            classification=self.classification,
            barred=tuple(self.barred),
            barred_for_good=tuple(self.barred_for_good),
            round=self.round,
            not_before=self.not_before,
            let_down_by=self._let_down_by(),
        )

    def _let_down_by(self) -> tuple[int, ...]:
        """The routes that last failed the page by a fault of the vendor."""
        last = {note.route: note.outcome for note in self.attempts[self.past :]}
        kinds = {route: FailureKind(what) for route, what in last.items() if what in _KINDS}
        return tuple(sorted(route for route, kind in kinds.items() if MEANING[kind].trips))

    def record(
        self, source: TextSource, error: PageError | None, *, reused: bool = False
    ) -> PageRecord:
        """How the page ends with a text from this source; a better earlier reading stands."""
        if source.degraded and self.earlier is not None and source is not self.earlier.source:
            return self.earlier.model_copy(update={"wasted": self.wasted})
        return PageRecord(
            page=self.page,
            source=source,
            attempts=tuple(self.attempts),
            error=error if source.degraded else None,
            take=self.take,
            reused=reused,
            wasted=self.wasted.plus(self.paid_before),
        )

    @property
    def moved(self) -> tuple[int, int] | None:
        """From which route to which the last attempt took the page, if it went elsewhere.

        What was tried before a person had it read again is no part of this reading.
        """
        routes = [note.route for note in self.attempts[self.past :][-2:]]
        return (routes[0], routes[1]) if len(set(routes)) == 2 else None

    def read(self, route: int, receipt: AttemptReceipt) -> None:
        """The attempt brought the page's text."""
        self.attempts.append(AttemptNote(route, OK, receipt.milliseconds))
        self.paid, self.wasted = receipt.paid, self.wasted.plus(receipt.wasted)

    def failed(self, route: int, failure: AttemptFailure, barred: Iterable[int]) -> None:
        """The attempt failed, and keeps the page from these routes."""
        meaning = MEANING[failure.kind]
        self.attempts.append(AttemptNote(route, failure.kind.value, failure.milliseconds))
        self.error = PageError(
            error=failure.message, code=meaning.code, error_type=meaning.error_type
        )
        self.wasted = self.wasted.plus(failure.wasted)
        self._bar(barred, for_good=meaning.error_type == "terminal")

    def count_strikes(self, route: int, failure: AttemptFailure, *, well: bool) -> None:
        """Under the adaptive rule: a route that fails the page again and again while it is well
        for others is barred for good. What fails on our side is not tried again at all."""
        meaning = MEANING[failure.kind]
        if failure.kind in OURS:
            self._bar([*self.barred] if meaning.bars == "every_route" else [route], for_good=True)
        elif meaning.trips is None:
            # A bad answer is paid for each time.
            self.strikes += [route] * (ROUNDS // BAD_ANSWERS)
        elif well:
            self.strikes.append(route)
        if self.strikes.count(route) >= ROUNDS:
            self._bar([route], for_good=True)

    def called_off(self, route: int) -> None:
        """The page was asked of this route too, and another was sooner."""
        self.attempts.append(AttemptNote(route, CALLED_OFF))

    def stopped(self, route: int | None, outcome: str, error: PageError) -> None:
        """The document ends before the page could be read; `route` is where it was in flight."""
        if route is not None:
            self.attempts.append(AttemptNote(route, outcome))
        self.error = error

    def take_another_round(self, not_before: float) -> None:
        """Every route that is not barred for good may be tried again, not before this time."""
        self.round += 1
        self.not_before = not_before
        self.barred = list(self.barred_for_good)

    def _bar(self, routes: Iterable[int], *, for_good: bool) -> None:
        """Never try these again; or, if not for good, not in this round."""
        for route in routes:
            if route not in self.barred:
                self.barred.append(route)
            if for_good and route not in self.barred_for_good:
                self.barred_for_good.append(route)
