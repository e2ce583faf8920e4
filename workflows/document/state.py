"""How far a document is: the state behind the queries, and what is carried between runs."""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import astuple
from datetime import UTC, datetime
from typing import Literal

from quire.contracts.carried import Carried
from quire.contracts.codes import Code, ErrorInfo
from quire.contracts.page import Classification, PageError, PageRecord, TextSource
from quire.contracts.plan import DocumentPlan
from quire.contracts.status import DocumentStatus, ProgressDetail
from quire.contracts.steps import ReuseReceipt
from quire.domain.cost import Spending
from quire.domain.document.attempts import CANCELLED, DEADLINE
from quire.domain.document.retry import pages_to_retry
from quire.domain.page_ranges import choose_pages
from workflows.document.dispatch import Dispatch

_TOO_LATE = PageError(
    error="The document's deadline passed before this page was read.",
    code=Code.GW_TIMEOUT,
    error_type="retryable",
)
_CALLED_OFF = PageError(
    error="The document was cancelled before this page was read.",
    code=Code.NOT_READY,
    error_type="retryable",
)


class DocumentProgress:
    """Every chosen page is in exactly one place: settled here, or in the dispatch's books."""

    def __init__(self, job_id: str, user_id: str, started: float) -> None:
        self.job_id = job_id
        self.user_id = user_id
        self.started = started
        self.plan: DocumentPlan | None = None
        self.deadline: float | None = None
        self.phase = "starting"
        self.chosen: tuple[int, ...] = ()
        # One letter a page, as far as the survey has come; and what it says of the chosen ones.
        self.letters = ""
        self.classes: dict[int, Classification] = {}
        self.text_only = False
        self.vision: tuple[int, ...] = ()
        self.past_routes: tuple[str, ...] = ()
        self.settled: dict[int, PageRecord] = {}
        self.dispatch: Dispatch | None = None
        self.changed: set[int] = set()
        self.version = 1
        self.current: int | None = None
        self.last_completed: int | None = None
        self.heartbeat = started
        self.timed_out = False
        self.cancelled = False
        self.completed_at: float | None = None
        self.error: ErrorInfo | None = None
        self.sha256 = ""
        self.spent = Spending()
        # (page, route, error) of attempts that failed, the newest last.
        self.last_errors: deque[tuple[int, str, PageError]] = deque(maxlen=5)

    # --- steps -------------------------------------------------------------------------------

    def planned(self, plan: DocumentPlan, deadline: float) -> None:
        self.plan = plan
        self.deadline = deadline

    def choose_pages(self, spec: str | None, page_count: int) -> tuple[int, ...]:
        self.chosen = choose_pages(spec, page_count)
        return self.chosen

    def take_up(self, carried: Carried, *, text_only: bool) -> None:
        """The survey has begun: settle what needs no model, and hand the rest to the dispatch."""
        self.text_only = text_only
        self.planned(carried.plan, carried.deadline)
        self.started = carried.started
        self.sha256 = carried.source.sha256
        self.spent = Spending(*carried.spent)
        self.version = carried.version
        self.changed = set(carried.changed)
        self.past_routes = carried.past_routes
        self.last_errors.extend(carried.last_errors)
        needy = self._learn(carried.classes)
        again = {record.page: record for record in carried.again}
        taken_over = {record.page: record for record in carried.records}
        read = {n for n, record in taken_over.items() if record.source is not TextSource.MUPDF}
        wanted = {*needy, *carried.also_vision, *again, *read}
        self.vision = tuple(sorted(wanted & {*self.chosen}))
        self.settled.update({n: taken_over[n] for n in self.chosen if n in taken_over})
        self._settle(n for n in self.classes if n not in taken_over and n not in self.vision)
        self.dispatch = Dispatch(
            job_id=self.job_id,
            routes=carried.plan.chain.routes,
            dispatch=carried.plan.dispatch,
            breaker=carried.plan.breaker,
            deadline=carried.deadline,
            vision={n: self.class_of(n) for n in self.vision if n not in taken_over},
            carried=carried.dispatch,
        )
        for number in sorted(again.keys() & self.dispatch.pages.keys()):
            self.dispatch.waiting.remove(number)
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

    def _give_up(self, numbers: Iterable[int], source: TextSource, error: PageError) -> None:
        """What these pages would have needed was never known: they count as read by no model."""
        records = {n: PageRecord(page=n, source=source, error=error) for n in numbers}
        self.settled.update(records)
        self.vision = tuple(sorted({*self.vision, *records}))

    def _learn(self, letters: str) -> set[int]:
        """Which of the surveyed pages need a model."""
        self.letters = letters
        surveyed = [n for n in self.chosen if n <= len(letters)]
        self.classes = {n: Classification.from_letter(letters[n - 1]) for n in surveyed}
        every = self.plan is not None and self.plan.every_page
        needy = {n for n, c in self.classes.items() if every or c.needs_vision}
        return set() if self.text_only else needy

    def _settle(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.settled[number] = PageRecord(page=number, source=TextSource.MUPDF)

    def carry(self, carried: Carried) -> Carried:
        """The same document for its next run, as far as it has come."""
        dispatch = self.require_dispatch()
        ended = {n: r for n, r in self.settled.items() if n in self.vision} | dispatch.records
        return carried.model_copy(
            update={
                "records": tuple(ended[n] for n in sorted(ended)),
                "dispatch": dispatch.carry(),
                "spent": astuple(self.spent),
                "version": self.version,
                "changed": tuple(sorted(self.changed)),
                "again": (),
                "also_vision": self.vision,
                "classes": self.letters,
                "last_errors": tuple(self.last_errors),
            }
        )

    def reused(self, receipt: ReuseReceipt) -> None:
        """Every page is settled by a stored result."""
        letters = zip(self.chosen, receipt.classes, strict=True)
        self.classes = {number: Classification.from_letter(letter) for number, letter in letters}
        self.settled = {record.page: record for record in receipt.records}

    def touched(self, number: int, now: float) -> None:
        """Something happened to this page."""
        self.heartbeat = now
        if self.dispatch and number in self.dispatch.records:
            self.last_completed = number
            self.changed.add(number)

    def erred(self, number: int) -> None:
        """The page's last attempt failed."""
        page = self.require_dispatch().pages[number]
        if page.error is not None:
            self.last_errors.append((number, self.route_keys[page.attempts[-1].route], page.error))

    def retryable(self, spec: str | None) -> tuple[int, ...]:
        """The ended pages that a person's wish names."""
        return pages_to_retry(spec, {record.page: record.source for record in self.records()})

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

    def close(self, *, timed_out: bool, cancelled: bool) -> None:
        """No page is read any more: those still open get what there is."""
        open_pages = not self.finished
        self.cancelled = cancelled and open_pages
        self.timed_out = timed_out and open_pages and not self.cancelled
        source = TextSource.MUPDF_FALLBACK if self.cancelled else TextSource.MUPDF_TIMEOUT_FALLBACK
        error = _CALLED_OFF if self.cancelled else _TOO_LATE
        if self.dispatch:
            self.dispatch.stop(source, CANCELLED if self.cancelled else DEADLINE, error)
            # A page that keeps its earlier reading has lost nothing to the deadline.
            lost = [r for r in self.dispatch.records.values() if r.source is source]
            self.timed_out = self.timed_out and bool(lost or self.unsurveyed)
        self._give_up(self.unsurveyed, source, error)

    def changed_pages(self) -> tuple[int, ...]:
        """What this version of the result has new; of the first, everything is."""
        return tuple(sorted(self.changed)) if self.version > 1 else ()

    def next_version(self) -> None:
        """A result was written; what happens from here on belongs to the next."""
        self.version += 1
        self.changed = set()

    def completed(self, now: float) -> None:
        self.phase = "done"
        self.heartbeat = self.completed_at = now

    def failed(self, error: ErrorInfo, now: float) -> None:
        self.error = error
        self.phase = "failed"
        self.heartbeat = self.completed_at = now

    # --- what is so --------------------------------------------------------------------------

    def require_dispatch(self) -> Dispatch:
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

    def class_of(self, number: int) -> Classification:
        """A page that was never surveyed is taken for one that only a model can read."""
        return self.classes.get(number, Classification.SCANNED)

    @property
    def finished(self) -> bool:
        """Every page has ended."""
        return self.dispatch is not None and self.dispatch.finished and not self.unsurveyed

    @property
    def started_at(self) -> str:
        return datetime.fromtimestamp(self.started, UTC).isoformat()

    @property
    def engine(self) -> str:
        return self.plan.engine if self.plan else "none"

    @property
    def done(self) -> int:
        return len(self.settled) + (len(self.dispatch.records) if self.dispatch else 0)

    @property
    def route_keys(self) -> tuple[str, ...]:
        """What the numbers in records mean: the plan's routes, or those of a past run.

        Records of a past run were renumbered to stand behind the plan's routes.
        """
        own = tuple(route.key for route in self.plan.chain.routes) if self.plan else ()
        return own + self.past_routes

    @property
    def vision_pages(self) -> int:
        return len(self.vision)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.plan.chain.left_out if self.plan and self.vision else ()

    def records(self) -> tuple[PageRecord, ...]:
        ended = {**self.settled, **(self.dispatch.records if self.dispatch else {})}
        return tuple(ended[number] for number in sorted(ended))

    def status(self) -> DocumentStatus:
        records = self.records()
        degraded = [record for record in records if record.source.degraded]
        return DocumentStatus(
            job_id=self.job_id,
            status=self._state(),
            total_items=len(self.chosen),
            completed_items=len(records) - len(degraded),
            failed_items=len(degraded),
            current_item=self.current,
            last_completed_item=self.last_completed,
            progress_detail=ProgressDetail(
                page_errors={r.page: r.error for r in degraded if r.error},
                pages_by_source=dict(sorted(Counter(r.source.value for r in records).items())),
                waiting=len(self.dispatch.waiting) if self.dispatch else 0,
                in_flight=len(self.dispatch.flights) if self.dispatch else 0,
                phase=self.phase,
                warnings=self.warnings,
                timeout_occurred=self.timed_out,
                cancelled=self.cancelled,
                input_tokens=self.spent.input_tokens,
                output_tokens=self.spent.output_tokens,
                cost_usd=self.spent.dollars,
            ),
            heartbeat_at=iso(self.heartbeat),
            started_at=iso(self.started),
            deadline_at=iso(self.deadline),
            completed_at=iso(self.completed_at),
            error_message=self.error.line() if self.error else None,
        )

    def _state(self) -> Literal["pending", "running", "completed", "failed"]:
        if self.error:
            return "failed"
        if self.completed_at is not None:
            return "completed"
        return "running" if self.plan else "pending"


def iso(moment: float | None) -> str | None:
    return datetime.fromtimestamp(moment, UTC).isoformat() if moment is not None else None
