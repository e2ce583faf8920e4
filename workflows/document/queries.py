"""The answers to the queries of a document: pure functions of its state."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from quire.contracts.page import PageRecord, TextSource
from quire.contracts.status import (
    BreakerStatus,
    DocumentStatus,
    PageRange,
    PageStatus,
    PageTexts,
    ProgressDetail,
)
from quire.domain.document.attempts import expand_attempts
from quire.domain.document.keys import answer_key, reading_id
from workflows.document.next_try import next_try, routes_open, waiting_for
from workflows.document.state import DocumentState

TEXTS_AT_ONCE = 200
_LETTERS = {
    TextSource.MUPDF: "m",
    TextSource.AI: "a",
    TextSource.OCR: "o",
    TextSource.OCR_FALLBACK: "l",
    TextSource.MUPDF_FALLBACK: "f",
    TextSource.MUPDF_TIMEOUT_FALLBACK: "t",
}


def status(state: DocumentState) -> DocumentStatus:
    """The progress contract."""
    records, progress, end = state.pages.records(), state.progress, state.end
    degraded = [record for record in records if record.source.degraded]
    dispatch = state.pages.dispatch
    return DocumentStatus(
        job_id=state.job_id,
        status=_status_word(state),
        progress=_percent(state),
        total_items=len(state.pages.chosen),
        completed_items=len(records) - len(degraded),
        failed_items=len(degraded),
        current_item=progress.current,
        last_completed_item=progress.last_completed,
        progress_detail=ProgressDetail(
            page_errors={r.page: r.error for r in degraded if r.error},
            pages_by_source=dict(sorted(Counter(r.source.value for r in records).items())),
            waiting=len(dispatch.waiting) if dispatch else 0,
            in_flight=len(dispatch.flights) if dispatch else 0,
            phase=progress.phase.value,
            warnings=state.warnings,
            timeout_occurred=end.timed_out,
            cancelled=end.cancelled,
            healed=state.healed.count,
            input_tokens=progress.spent.input_tokens,
            output_tokens=progress.spent.output_tokens,
            cost_usd=progress.spent.dollars,
            routes=tuple(state.route_keys),
        ),
        heartbeat_at=_iso(progress.heartbeat),
        started_at=_iso(state.started),
        deadline_at=_iso(state.deadline),
        estimate=state.estimate,
        completed_at=_iso(end.completed_at),
        error_message=end.error.line() if end.error else None,
        message=end.message,
        waiting_for=waiting_for(state),
    )


def _percent(state: DocumentState) -> float:
    """The share of ended pages with one digit, rounded down. While the result is not written yet,
    not all is done."""
    if _status_word(state) == "completed":
        return 100.0
    total = len(state.pages.chosen)
    return min(99.9, 1000 * state.pages.ended // total / 10) if total else 0.0


def _status_word(state: DocumentState) -> Literal["pending", "running", "completed", "failed"]:
    if state.end.error:
        return "failed"
    if state.end.completed_at is not None:
        return "completed"
    return "running" if state.plan else "pending"


def pages(state: DocumentState, wanted: PageRange) -> list[PageStatus]:
    """Where each page of a range stands."""
    ended = {record.page: record for record in state.pages.records()}
    numbers = [n for n in state.pages.chosen if wanted.first <= n <= wanted.last]
    return [_page(state, number, ended) for number in numbers]


def _page(state: DocumentState, number: int, ended: Mapping[int, PageRecord]) -> PageStatus:
    classification = state.pages.class_of(number)
    routes = state.route_keys
    record = ended.get(number)
    dispatch = state.pages.dispatch
    page = dispatch.pages.get(number) if dispatch else None
    last_attempt_at = _iso(page.last_attempt) if page and page.last_attempt else None
    if record is not None:
        return PageStatus(
            page=number,
            classification=classification,
            state="done",
            source=record.source,
            route=None if record.read_by is None else routes[record.read_by],
            attempts=expand_attempts(record.attempts, routes),
            error=record.error,
            last_attempt_at=last_attempt_at,
            # A person who has it read again ends what kept it from single routes.
            retry_after=_iso(routes_open(state, number)[0] or None)
            if record.source.degraded
            else None,
        )
    flight = dispatch.flights.get(number) if dispatch else None
    return PageStatus(
        page=number,
        classification=classification,
        state="in_flight" if flight else "waiting",
        route=routes[flight.route] if flight else None,
        attempts=expand_attempts(page.attempts if page else (), routes),
        error=page.error if page else None,
        last_attempt_at=last_attempt_at,
        retry_after=_iso(next_try(state, page)[0] or None) if page and not flight else None,
    )


def grid(state: DocumentState) -> str:
    """One letter a page: its source's, `>` in flight, `.` waiting."""
    ended = {record.page: record.source for record in state.pages.records()}
    flights = state.pages.dispatch.flights if state.pages.dispatch else {}
    return "".join(
        _LETTERS[ended[n]] if n in ended else ">" if n in flights else "."
        for n in state.pages.chosen
    )


def texts(state: DocumentState, wanted: PageRange) -> PageTexts:
    """The pages from `wanted.first` on that have ended, up to the first that has not."""
    ended = {record.page: record for record in state.pages.records()}
    found: list[tuple[int, str]] = []
    for number in state.pages.chosen:
        if not wanted.first <= number <= wanted.last:
            continue
        if number not in ended or len(found) == TEXTS_AT_ONCE:
            break
        found.append((number, _answer_key(state, ended[number])))
    return PageTexts(sha256=state.sha256, pages=tuple(found))


def _answer_key(state: DocumentState, record: PageRecord) -> str:
    if record.answer is not None or record.read_by is None or state.plan is None:
        return record.answer or ""
    provider, _, model = state.route_keys[record.read_by].partition(":")
    reading = reading_id(state.plan.reading)
    return answer_key(state.sha256, record.page, reading, provider, model, record.take)


def breakers(state: DocumentState) -> list[BreakerStatus]:
    """Routes and providers as this document sees them."""
    if state.pages.dispatch is None:
        return []
    load = {
        route.key: state.pages.dispatch.in_flight_on(index)
        for index, route in enumerate(state.pages.dispatch.routes)
    }
    return [
        BreakerStatus(
            key=key,
            state=breaker.state.value,
            retry_at=_iso(breaker.retry_at) if breaker.rests else None,
            failures=breaker.failures,
            in_flight=load.get(key, 0),
            reason=breaker.reason,
            learned_since=_iso(breaker.since) if breaker.learned else None,
        )
        for key, breaker in sorted(state.pages.dispatch.health.breakers.items())
    ]


def _iso(moment: float | None) -> str | None:
    return datetime.fromtimestamp(moment, UTC).isoformat() if moment is not None else None
