"""The chosen pages of a document: what the survey says of each, and where each one stands."""

from collections.abc import Iterable

from quire.contracts.carried import Carried
from quire.contracts.codes import ErrorInfo
from quire.contracts.names import LONGEST_DEADLINE_S
from quire.contracts.page import Classification, PageError, PageRecord, TextSource
from quire.contracts.steps import ReuseReceipt
from quire.domain.document.retry import pages_to_retry
from quire.domain.page_ranges import choose_pages
from workflows.document.dispatch import DispatchState


class ChosenPages:
    """Every chosen page is in exactly one place: not surveyed yet, settled here, or in the
    dispatch.

    Written by `Preparation`, which chooses the pages; by `Dispatcher`, which brings the rest of
    the survey; by `DocumentWorkflow`, for a stored result; by `People`, for a retry; and by
    `DocumentState`, where a run takes up its pages and where it stops them.
    """

    def __init__(self) -> None:
        self.chosen: tuple[int, ...] = ()
        # One letter a page, as far as the survey has come; and what it says of the chosen ones.
        self.letters = ""
        self.classes: dict[int, Classification] = {}
        self.text_only = False
        self.every_page = False
        # The pages that need a model, ended or not.
        self.vision: tuple[int, ...] = ()
        # Pages that ended without the dispatch.
        self.settled: dict[int, PageRecord] = {}
        self.dispatch: DispatchState | None = None

    # --- what happens ------------------------------------------------------------------------

    def choose(self, spec: str | None, page_count: int) -> tuple[int, ...]:
        """The pages that the request names; none when it names only pages that do not exist."""
        self.chosen = choose_pages(spec, page_count)
        return self.chosen

    def take_up(self, job_id: str, carried: Carried, *, text_only: bool) -> None:
        """The survey has begun: settle what needs no model, and hand the rest to the dispatch."""
        self.text_only = text_only
        self.every_page = carried.plan.every_page
        needy = self._learn(carried.classes)
        again = {record.page: record for record in carried.again}
        taken_over = {record.page: record for record in carried.records}
        read = {n for n, record in taken_over.items() if record.source is not TextSource.MUPDF}
        wanted = {*needy, *carried.also_vision, *again, *read}
        self.vision = tuple(sorted(wanted & {*self.chosen}))
        self.settled.update({n: taken_over[n] for n in self.chosen if n in taken_over})
        self._settle(n for n in self.classes if n not in taken_over and n not in self.vision)
        self.dispatch = DispatchState(
            job_id=job_id,
            routes=carried.plan.chain.routes,
            dispatch=carried.plan.dispatch,
            breaker=carried.plan.breaker,
            # Where the deadline may move, no attempt is given less time for it.
            deadline=carried.started + LONGEST_DEADLINE_S
            if carried.plan.page_s
            else carried.deadline,
            vision={n: self.class_of(n) for n in self.vision if n not in taken_over},
            carried=carried.dispatch,
        )
        for number in sorted(again.keys() & self.dispatch.pages.keys()):
            self.dispatch.withdraw(number)
            self.dispatch.read_again(again[number], self.class_of(number), carried.started)

    def survey_on(self, letters: str) -> None:
        """The classes of the next pages are known: they are settled, or wait for a model."""
        known = set(self.classes)
        needy = self._learn(self.letters + letters)
        found = sorted(self.classes.keys() - known)
        self.vision = tuple(sorted({*self.vision, *needy}))
        self._settle(n for n in found if n not in needy)
        self.require_dispatch().add({n: self.classes[n] for n in found if n in needy})

    def survey_failed(self, why: ErrorInfo) -> None:
        """No more pages will be surveyed: those that are not have no text and end here."""
        error = PageError(error=why.message, code=why.code, error_type=why.error_type)
        self._give_up(self.unsurveyed, TextSource.MUPDF_FALLBACK, error)

    def reuse(self, receipt: ReuseReceipt) -> None:
        """Every page is settled by a stored result."""
        letters = zip(self.chosen, receipt.classes, strict=True)
        self.classes = {number: Classification.from_letter(letter) for number, letter in letters}
        self.settled = {record.page: record for record in receipt.records}

    def retry(self, spec: str | None, now: float) -> tuple[int, ...]:
        """Ended pages wait again."""
        dispatch = self.require_dispatch()
        ended = {record.page: record for record in self.records()}
        wanted = self.retryable(spec)
        for number in wanted:
            self.settled.pop(number, None)
            dispatch.read_again(ended[number], self.class_of(number), now)
        self.vision = tuple(sorted({*self.vision, *wanted}))
        return wanted

    def stop(self, source: TextSource, outcome: str, error: PageError) -> bool:
        """No page is read any more: those still open get what there is. Whether any lost by it;
        a page that keeps its earlier reading has lost nothing."""
        unsurveyed = self.unsurveyed
        lost = bool(unsurveyed)
        if self.dispatch is not None:
            self.dispatch.stop(source, outcome, error)
            lost = lost or any(r.source is source for r in self.dispatch.records.values())
        self._give_up(unsurveyed, source, error)
        return lost

    def _learn(self, letters: str) -> set[int]:
        """Which of the surveyed pages need a model."""
        self.letters = letters
        surveyed = [n for n in self.chosen if n <= len(letters)]
        self.classes = {n: Classification.from_letter(letters[n - 1]) for n in surveyed}
        needy = {n for n, c in self.classes.items() if self.every_page or c.needs_vision}
        return set() if self.text_only else needy

    def _settle(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.settled[number] = PageRecord(page=number, source=TextSource.MUPDF)

    def _give_up(self, numbers: Iterable[int], source: TextSource, error: PageError) -> None:
        """What these pages would have needed was never known: they count as read by no model."""
        records = {n: PageRecord(page=n, source=source, error=error) for n in numbers}
        self.settled.update(records)
        self.vision = tuple(sorted({*self.vision, *records}))

    # --- what is so --------------------------------------------------------------------------

    def require_dispatch(self) -> DispatchState:
        """The dispatch, where it must exist."""
        assert self.dispatch is not None, "pages are dispatched after their survey"
        return self.dispatch

    @property
    def unsurveyed(self) -> tuple[int, ...]:
        """The chosen pages that the survey has not come to, and that have not ended without."""
        known = len(self.letters)
        if not self.chosen or self.chosen[-1] <= known:
            return ()
        elsewhere = self.settled.keys() | (self.dispatch.pages.keys() if self.dispatch else set())
        return tuple(n for n in self.chosen if n > known and n not in elsewhere)

    @property
    def finished(self) -> bool:
        """Every page has ended."""
        return self.dispatch is not None and self.dispatch.finished and not self.unsurveyed

    @property
    def to_read(self) -> int:
        """How many pages this run still has to read, or may have to."""
        if self.dispatch is None:
            return 0
        return len(self.dispatch.waiting) + len(self.dispatch.flights) + len(self.unsurveyed)

    @property
    def ended(self) -> int:
        """How many pages have ended."""
        return len(self.settled) + (len(self.dispatch.records) if self.dispatch else 0)

    def class_of(self, number: int) -> Classification:
        """A page that was never surveyed is taken for one that only a model can read."""
        return self.classes.get(number, Classification.SCANNED)

    def records(self) -> tuple[PageRecord, ...]:
        """How each ended page ended, in page order."""
        ended = {**self.settled, **(self.dispatch.records if self.dispatch else {})}
        return tuple(ended[number] for number in sorted(ended))

    def vision_records(self) -> tuple[PageRecord, ...]:
        """The ended pages that needed a model, in page order: the survey alone cannot tell how
        these ended."""
        ended = {n: r for n, r in self.settled.items() if n in self.vision}
        ended |= self.require_dispatch().records
        return tuple(ended[n] for n in sorted(ended))

    def retryable(self, spec: str | None) -> tuple[int, ...]:
        """The ended pages that a retry request names."""
        return pages_to_retry(spec, {record.page: record.source for record in self.records()})
