"""A document's live details for Temporal's Web UI, as Markdown. Pure: `now` is given."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from quire.contracts.document import DocumentRequest
from quire.contracts.page import PageRecord
from quire.contracts.routing import BreakerState
from quire.domain.page_ranges import format_pages
from workflows.document.state import DocumentProgress

BAR = 30
GAP = "\u2003"
# Page numbers of one source are cut here: a long document's list would fill the screen.
PAGES_NAMED = 120
# What whoever starts a document cannot know; the plan knows it.
UNDECIDED = "as the workers have it"


def render_details(request: DocumentRequest, progress: DocumentProgress, now: float) -> str:
    """Bar, cost so far, pages by source, routes, the last errors and what was asked for.

    It is shown as it is until something happens, perhaps for minutes: so it names moments, and
    never says how long from now something is.
    """
    records = progress.records()
    parts = [
        _head(progress, now),
        _sources(progress, records),
        _routes(progress, records, now),
        _errors(progress),
        _planned_request(request, progress),
    ]
    return "\n\n".join(part for part in parts if part)


def render_request(request: DocumentRequest, engine: str | None) -> str:
    """What was asked for, told once at the start; without an engine, the workers choose it."""
    deadline = f"{request.deadline_s:g} s" if request.deadline_s else UNDECIDED
    return _request(request, engine or UNDECIDED, deadline)


def _planned_request(request: DocumentRequest, progress: DocumentProgress) -> str:
    """What was asked for as it was understood. A run that continues another has only this: what
    was told at the start belongs to the first."""
    if progress.plan is None or progress.deadline is None:
        return render_request(request, request.engine)
    deadline = f"{_date(progress.deadline)} UTC ({progress.plan.deadline_s:g} s)"
    return _request(request, progress.engine, deadline)


def _request(request: DocumentRequest, engine: str, deadline: str) -> str:
    rows = {
        "file": request.source_name or request.source,
        "pages": request.pages or "all",
        "engine": "none, MuPDF's text only"
        if request.text_only
        else f"{engine}, tier {request.tier}",
        "owner": request.user_id or "-",
        "deadline": deadline,
        "job": request.job_id,
    }
    return _table(("", ""), rows.items())


def bar(done: int, total: int, width: int = BAR) -> str:
    """A progress bar in text."""
    full = width * done // total if total else 0
    return "█" * full + "░" * (width - full)


def _head(progress: DocumentProgress, now: float) -> str:
    done, total = progress.done, len(progress.chosen)
    share = f" {100 * done // total}%" if total else ""
    lines = [f"**{progress.phase}** `{bar(done, total)}`{share}, {done} of {total} pages"]
    if progress.error is not None:
        lines.append(f"**{progress.error.code.value}** {_plain(progress.error.line())}")
    if progress.completed_at is None:
        times = [f"as of {_date(now)} UTC", f"began {_time(progress.started, now)} UTC"]
        if progress.deadline is not None:
            times.append(f"deadline {_time(progress.deadline, now)} UTC")
    else:
        times = [f"ended {_date(now)} UTC after {now - progress.started:.0f} s"]
    if progress.timed_out:
        times.append("the deadline passed")
    lines.append("; ".join([*times, progress.spent.words()]))
    return "\n\n".join(lines)


def _sources(progress: DocumentProgress, records: Iterable[PageRecord]) -> str:
    by_source: dict[str, list[int]] = {}
    for record in records:
        by_source.setdefault(record.source.value, []).append(record.page)
    dispatch = progress.dispatch
    if dispatch is not None and dispatch.flights:
        by_source["in flight"] = sorted(dispatch.flights)
    if dispatch is not None and dispatch.waiting:
        by_source["waiting"] = dispatch.waiting
    if not by_source:
        return ""
    rows = [
        (name, len(pages), _cut(format_pages(pages), PAGES_NAMED))
        for name, pages in by_source.items()
    ]
    return _table(("source", "count", "pages"), rows)


def _routes(progress: DocumentProgress, records: Iterable[PageRecord], now: float) -> str:
    dispatch = progress.dispatch
    if dispatch is None or not dispatch.pages:
        return ""
    # By name: a page of an earlier run counts for the route that read it, under whatever number.
    read = Counter[str]()
    for index, pages in Counter(record.read_by for record in records).items():
        if index is not None:
            read[progress.route_keys[index]] += pages
    rows = []
    for index, route in enumerate(dispatch.routes):
        of_route, of_provider = dispatch.health.of(route)
        breaker = of_route if of_provider.state is BreakerState.CLOSED else of_provider
        rests = breaker.state is BreakerState.OPEN
        rows.append(
            (
                route.key,
                f"{breaker.state.value} {breaker.reason}".strip(),
                _time(breaker.retry_at, now) if rests else "",
                dispatch.in_flight_on(index),
                read[route.key],
            )
        )
    return _table(("route", "breaker", "next try, UTC", "in flight", "pages read"), rows)


def _errors(progress: DocumentProgress) -> str:
    rows = [
        (number, route, error.code.value, error.error.removeprefix(f"{route}: "))
        for number, route, error in reversed(progress.last_errors)
    ]
    return _table(("page", "route", "code", "last errors"), rows) if rows else ""


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _time(moment: float, now: float) -> str:
    """The time of day; with its date, unless that is the one of `now`."""
    date, today = _date(moment), _date(now)
    return date.partition(" ")[2] if date[:10] == today[:10] else date


def _table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; the Web UI sets cells without a gap, so each brings one along."""
    lines = [head, *rows]
    drawn = ["|" + "".join(f" {_plain(str(cell))}{GAP}|" for cell in line) for line in lines]
    return "\n".join([drawn[0], "|" + "---|" * len(head), *drawn[1:]])


def _plain(text: str) -> str:
    """A vendor's words must not break the table or become markup."""
    return _cut(" ".join(text.replace("|", "/").replace("<", "(").replace("`", "'").split()), 200)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
