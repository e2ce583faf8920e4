"""Reading pages of a document again by hand."""

from collections.abc import Iterable, Mapping

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


def take_over(report: DocumentReport, spec: str | None, source: DocumentReceipt) -> PreviousReceipt:
    """What a new run takes over from a finished one: all but the pages to be read again."""
    again = set(pages_to_retry(spec, {page.page: page.source for page in report.pages}))
    if not again:
        raise errors.nothing_to_retry(report.job_id)
    routes = _routes(report.pages)
    return PreviousReceipt(
        source=source,
        routes=routes,
        records=tuple(_record(page, routes) for page in report.pages if page.page not in again),
        again=tuple(_record(page, routes) for page in report.pages if page.page in again),
        version=report.version,
    )


def _routes(pages: Iterable[PageResult]) -> tuple[str, ...]:
    named = {attempt.route for page in pages for attempt in page.attempts}
    return tuple(sorted(named))


def _record(page: PageResult, routes: tuple[str, ...]) -> PageRecord:
    """The page for a new run, which pays only for what it buys itself."""
    return PageRecord(
        page=page.page,
        source=page.source,
        attempts=tuple(_note(attempt, routes) for attempt in page.attempts),
        error=page.error,
        take=page.take,
        answer=page.answer,
        reused=page.answer is not None,
    )


def _note(attempt: Attempt, routes: tuple[str, ...]) -> AttemptNote:
    return AttemptNote(routes.index(attempt.route), attempt.outcome, attempt.milliseconds)
