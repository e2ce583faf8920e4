"""Reading pages of a document again by hand."""

from collections.abc import Iterable, Mapping

from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import Attempt, AttemptNote, PageRecord, TextSource
from quire.contracts.results import DocumentReport, PageResult
from quire.contracts.steps import DocumentReceipt, PreviousReceipt
from quire.domain import errors
from quire.domain.page_ranges import choose_pages


def pages_to_retry(spec: str | None, sources: Mapping[int, TextSource]) -> tuple[int, ...]:
    """The named pages that exist, or all that are degraded."""
    if spec is None:
        return tuple(sorted(n for n, source in sources.items() if source.degraded))
    last = max(sources, default=0)
    return tuple(n for n in choose_pages(spec, last) if n in sources)


def sources_of(report: DocumentReport) -> dict[int, TextSource]:
    """Where each page's text came from. Results of versions from before know no `ocr_fallback`:
    where vendors were asked, what local OCR read it read in their place."""
    sources = {page.page: page.source for page in report.pages}
    known = "ocr_fallback_count" in report.metadata.model_fields_set
    if known or all(route.startswith(f"{LOCAL_PROVIDER}:") for route in _routes(report.pages)):
        return sources
    instead = {TextSource.OCR: TextSource.OCR_FALLBACK}
    return {number: instead.get(source, source) for number, source in sources.items()}


def take_over(report: DocumentReport, spec: str | None, source: DocumentReceipt) -> PreviousReceipt:
    """What a new run takes over from a finished one: all but the pages to be read again."""
    sources = sources_of(report)
    again = set(pages_to_retry(spec, sources))
    if not again:
        raise errors.nothing_to_retry(report.job_id)
    routes = _routes(report.pages)
    records = {page.page: _record(page, sources[page.page], routes) for page in report.pages}
    return PreviousReceipt(
        source=source,
        routes=routes,
        records=tuple(record for number, record in records.items() if number not in again),
        again=tuple(record for number, record in records.items() if number in again),
        version=report.version,
    )


def _routes(pages: Iterable[PageResult]) -> tuple[str, ...]:
    named = {attempt.route for page in pages for attempt in page.attempts}
    return tuple(sorted(named))


def _record(page: PageResult, source: TextSource, routes: tuple[str, ...]) -> PageRecord:
    """The page for a new run, which pays only for what it buys itself."""
    return PageRecord(
        page=page.page,
        source=source,
        attempts=tuple(_note(attempt, routes) for attempt in page.attempts),
        error=page.error or (errors.page_read_by_ocr() if source.degraded else None),
        take=page.take,
        answer=page.answer,
        reused=page.answer is not None,
    )


def _note(attempt: Attempt, routes: tuple[str, ...]) -> AttemptNote:
    return AttemptNote(routes.index(attempt.route), attempt.outcome, attempt.milliseconds)
