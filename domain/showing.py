"""Short answers about every page at once, for those who follow a document."""

from domain.contracts import BreakerStatus, PageRange, PageRecord, PageTexts, Source
from domain.keys import answer_key, reading_id
from domain.progress import DocumentProgress, iso

TEXTS_AT_ONCE = 200
_LETTERS = {
    Source.MUPDF: "m",
    Source.AI: "a",
    Source.OCR: "o",
    Source.MUPDF_FALLBACK: "f",
    Source.MUPDF_TIMEOUT_FALLBACK: "t",
}


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
