"""How far a document is: the state behind the queries."""

from collections import Counter
from datetime import UTC, datetime
from typing import Literal

from domain.contracts import (
    BreakerStatus,
    Classification,
    DocumentStatus,
    PageError,
    PageRange,
    PageRecord,
    PageStatus,
    ProgressDetail,
    ReuseReceipt,
    Source,
)
from domain.dispatch import Dispatch
from domain.errors import Code, ErrorInfo
from domain.pages import choose_pages
from domain.plan import DocumentPlan
from domain.records import tell_attempts

_VISION = (Classification.HAS_GRAPHICS, Classification.SCANNED)


class DocumentProgress:
    """Every chosen page is in exactly one place: settled here, or in the dispatch's books."""

    def __init__(self, job_id: str, started: float) -> None:
        self.job_id = job_id
        self.started = started
        self.plan: DocumentPlan | None = None
        self.deadline: float | None = None
        self.phase = "starting"
        self.chosen: tuple[int, ...] = ()
        self.classes: dict[int, Classification] = {}
        self.settled: dict[int, PageRecord] = {}
        self.dispatch: Dispatch | None = None
        self.current: int | None = None
        self.last_completed: int | None = None
        self.heartbeat = started
        self.wake_at: float | None = None
        self.timed_out = False
        self.completed_at: float | None = None
        self.error: ErrorInfo | None = None

    # --- steps -------------------------------------------------------------------------------

    def planned(self, plan: DocumentPlan, deadline: float) -> None:
        self.plan = plan
        self.deadline = deadline

    def choose_pages(self, spec: str | None, page_count: int) -> tuple[int, ...]:
        self.chosen = choose_pages(spec, page_count)
        return self.chosen

    def surveyed(self, classes: str, *, every_page: bool, text_only: bool) -> None:
        """Pages that need no model are settled; the others are handed to the dispatch."""
        self.classes = {n: Classification.from_letter(classes[n - 1]) for n in self.chosen}
        vision: dict[int, Classification] = {}
        for number, classification in self.classes.items():
            if (every_page or classification in _VISION) and not text_only:
                vision[number] = classification
            else:
                self.settled[number] = PageRecord(page=number, source=Source.MUPDF)
        plan = self.require_plan()
        self.dispatch = Dispatch(
            job_id=self.job_id,
            routes=plan.chain.routes,
            dispatch=plan.dispatch,
            breaker=plan.breaker,
            deadline=self.deadline or 0.0,
            vision=vision,
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

    def close(self, *, timed_out: bool) -> None:
        """No page is read any more: those still open get what there is."""
        self.timed_out = timed_out and not self._all_ended()
        if self.dispatch:
            self.dispatch.expire()
            return
        for number in self.chosen:
            self.settled[number] = PageRecord(
                page=number,
                source=Source.MUPDF_TIMEOUT_FALLBACK,
                error=PageError(
                    error="The document's deadline passed before its survey was done.",
                    code=Code.GW_TIMEOUT,
                    error_type="retryable",
                ),
            )

    def completed(self, now: float) -> None:
        self.phase = "done"
        self.heartbeat = self.completed_at = now

    def failed(self, error: ErrorInfo, now: float) -> None:
        self.error = error
        self.phase = "failed"
        self.heartbeat = self.completed_at = now

    # --- what is so --------------------------------------------------------------------------

    def require_plan(self) -> DocumentPlan:
        assert self.plan is not None, "a document is planned before anything else"
        return self.plan

    def require_dispatch(self) -> Dispatch:
        assert self.dispatch is not None, "pages are dispatched after their survey"
        return self.dispatch

    def _all_ended(self) -> bool:
        return self.dispatch is not None and self.dispatch.finished

    @property
    def route_keys(self) -> tuple[str, ...]:
        return tuple(route.key for route in self.plan.chain.routes) if self.plan else ()

    @property
    def vision_pages(self) -> int:
        return len(self.dispatch.pages) if self.dispatch else len(self.chosen)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.plan.chain.left_out if self.plan and self.vision_pages else ()

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
            ),
            heartbeat_at=_iso(self.heartbeat),
            started_at=_iso(self.started),
            deadline_at=_iso(self.deadline),
            completed_at=_iso(self.completed_at),
            error_message=self.error.line() if self.error else None,
        )

    def _state(self) -> Literal["pending", "running", "completed", "failed"]:
        if self.error:
            return "failed"
        if self.completed_at is not None:
            return "completed"
        return "running" if self.plan else "pending"

    def pages(self, wanted: PageRange) -> list[PageStatus]:
        ended = {record.page: record for record in self.records()}
        numbers = [n for n in self.chosen if wanted.first <= n <= wanted.last]
        return [self._page(number, ended.get(number)) for number in numbers]

    def _page(self, number: int, record: PageRecord | None) -> PageStatus:
        classification = self.classes.get(number, Classification.SCANNED)
        if record is not None:
            return PageStatus(
                page=number,
                classification=classification,
                state="done",
                source=record.source,
                route=None if record.read_by is None else self.route_keys[record.read_by],
                attempts=tell_attempts(record.attempts, self.route_keys),
                error=record.error,
            )
        flight = self.dispatch.flights.get(number) if self.dispatch else None
        page = self.dispatch.pages.get(number) if self.dispatch else None
        return PageStatus(
            page=number,
            classification=classification,
            state="in_flight" if flight else "waiting",
            route=self.route_keys[flight.route] if flight else None,
            attempts=tell_attempts(page.attempts if page else (), self.route_keys),
            error=page.error if page else None,
        )

    def breakers(self) -> list[BreakerStatus]:
        if self.dispatch is None:
            return []
        load = {
            route.key: self.dispatch.in_flight_on(index)
            for index, route in enumerate(self.dispatch.routes)
        }
        return [
            BreakerStatus(
                key=key,
                state=breaker.state.value,
                retry_at=_iso(breaker.retry_at) if breaker.state.value == "open" else None,
                failures=breaker.failures,
                in_flight=load.get(key, 0),
                reason=breaker.reason,
            )
            for key, breaker in sorted(self.dispatch.health.breakers.items())
        ]


def _iso(moment: float | None) -> str | None:
    return datetime.fromtimestamp(moment, UTC).isoformat() if moment is not None else None
