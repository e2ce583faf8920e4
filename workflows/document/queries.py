"""Answers about pages and routes, for those who follow a document."""

from collections.abc import Mapping

from quire.contracts.page import PageRecord, TextSource
from quire.contracts.status import BreakerStatus, PageRange, PageStatus, PageTexts
from quire.domain.document.attempts import tell_attempts
from quire.domain.document.keys import answer_key, reading_id
from workflows.document.state import DocumentProgress, iso

TEXTS_AT_ONCE = 200
_LETTERS = {
    TextSource.MUPDF: "m",
    TextSource.AI: "a",
    TextSource.OCR: "o",
    TextSource.MUPDF_FALLBACK: "f",
    TextSource.MUPDF_TIMEOUT_FALLBACK: "t",
}


def pages(progress: DocumentProgress, wanted: PageRange) -> list[PageStatus]:
    """Where each page of a range stands."""
    ended = {record.page: record for record in progress.records()}
    numbers = [n for n in progress.chosen if wanted.first <= n <= wanted.last]
    return [_page(progress, number, ended) for number in numbers]


def _page(progress: DocumentProgress, number: int, ended: Mapping[int, PageRecord]) -> PageStatus:
    classification = progress.class_of(number)
    routes = progress.route_keys
    record = ended.get(number)
    if record is not None:
        return PageStatus(
            page=number,
            classification=classification,
            state="done",
            source=record.source,
            route=None if record.read_by is None else routes[record.read_by],
            attempts=tell_attempts(record.attempts, routes),
            error=record.error,
        )
    flight = progress.dispatch.flights.get(number) if progress.dispatch else None
    page = progress.dispatch.pages.get(number) if progress.dispatch else None
    return PageStatus(
        page=number,
        classification=classification,
        state="in_flight" if flight else "waiting",
        route=routes[flight.route] if flight else None,
        attempts=tell_attempts(page.attempts if page else (), routes),
        error=page.error if page else None,
    )


def grid(progress: DocumentProgress) -> str:
    """One letter a page: its source's, `>` in flight, `.` waiting."""
    ended = {record.page: record.source for record in progress.records()}
    flights = progress.dispatch.flights if progress.dispatch else {}
    return "".join(
        _LETTERS[ended[n]] if n in ended else ">" if n in flights else "." for n in progress.chosen
    )


def texts(progress: DocumentProgress, wanted: PageRange) -> PageTexts:
    """The pages from `wanted.first` on that have ended, up to the first that has not."""
    ended = {record.page: record for record in progress.records()}
    found: list[tuple[int, str]] = []
    for number in progress.chosen:
        if not wanted.first <= number <= wanted.last:
            continue
        if number not in ended or len(found) == TEXTS_AT_ONCE:
            break
        found.append((number, _answer_key(progress, ended[number])))
    return PageTexts(sha256=progress.sha256, pages=tuple(found))


def _answer_key(progress: DocumentProgress, record: PageRecord) -> str:
    if record.answer is not None or record.read_by is None or progress.plan is None:
        return record.answer or ""
    provider, _, model = progress.route_keys[record.read_by].partition(":")
    reading = reading_id(progress.plan.reading)
    return answer_key(progress.sha256, record.page, reading, provider, model, record.take)


def breakers(progress: DocumentProgress) -> list[BreakerStatus]:
    """Routes and providers as this document sees them."""
    if progress.dispatch is None:
        return []
    load = {
        route.key: progress.dispatch.in_flight_on(index)
        for index, route in enumerate(progress.dispatch.routes)
    }
    return [
        BreakerStatus(
            key=key,
            state=breaker.state.value,
            retry_at=iso(breaker.retry_at) if breaker.state.value == "open" else None,
            failures=breaker.failures,
            in_flight=load.get(key, 0),
            reason=breaker.reason,
        )
        for key, breaker in sorted(progress.dispatch.health.breakers.items())
    ]
