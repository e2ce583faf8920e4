"""A document's live details for Temporal's Web UI, as Markdown. Pure: `now` is given."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from quire.contracts.document import DocumentRequest
from quire.contracts.page import PageRecord
from quire.contracts.routing import Breaker, BreakerState
from quire.domain.counts import counted
from quire.domain.document.details import bar, cut, plain, render_request, request_table, table
from quire.domain.page_ranges import format_pages
from workflows.document.state import DocumentState

# Page numbers of one source are cut here: a long document's list would fill the screen.
PAGES_NAMED = 120
# A result says of itself how many pages are degraded, why, and what mends them.
MESSAGE_CHARS = 1000


def render_details(request: DocumentRequest, state: DocumentState, now: float) -> str:
    """Bar, cost so far, pages by source, routes, the last errors and what was asked for.

    It is shown as it is until something happens, perhaps for minutes: so it names moments, and
    never says how long from now something is.
    """
    records = state.pages.records()
    parts = [
        _head(state, now),
        _sources(state, records),
        _routes(state, records, now),
        _errors(state),
        _planned_request(request, state),
    ]
    return "\n\n".join(part for part in parts if part)


def _planned_request(request: DocumentRequest, state: DocumentState) -> str:
    """What was asked for as it was understood. A run that continues another has only this: what
    was shown at the start belongs to the first."""
    if state.plan is None or state.deadline is None:
        return render_request(request, request.engine)
    allowed_s = round(state.deadline - state.started, 3)
    deadline = f"{_date(state.deadline)} UTC ({allowed_s:g} s) {state.estimate}".rstrip()
    return request_table(request, state.engine, deadline)


def _head(state: DocumentState, now: float) -> str:
    done, total = state.pages.ended, len(state.pages.chosen)
    share = f" {100 * done // total}%" if total else ""
    pages = counted(total, "page")
    lines = [f"**{state.progress.phase}** `{bar(done, total)}`{share}, {done:,} of {pages}"]
    if state.end.error is not None:
        lines.append(f"**{state.end.error.code.value}** {plain(state.end.error.line())}")
    if state.end.message:
        lines.append(plain(state.end.message, MESSAGE_CHARS))
    if state.end.completed_at is None:
        times = [f"as of {_date(now)} UTC", f"began {_time(state.started, now)} UTC"]
        if state.deadline is not None:
            times.append(f"deadline {_time(state.deadline, now)} UTC")
    else:
        times = [f"ended {_date(now)} UTC after {now - state.started:.0f} s"]
    if state.end.timed_out:
        times.append("the deadline passed")
    lines.append("; ".join([*times, state.progress.spent.words()]))
    return "\n\n".join(lines)


def _sources(state: DocumentState, records: Iterable[PageRecord]) -> str:
    by_source: dict[str, list[int]] = {}
    for record in records:
        by_source.setdefault(record.source.value, []).append(record.page)
    dispatch = state.pages.dispatch
    if dispatch is not None and dispatch.flights:
        by_source["in flight"] = sorted(dispatch.flights)
    if dispatch is not None and dispatch.waiting:
        by_source["waiting"] = dispatch.waiting
    if not by_source:
        return ""
    rows = [
        (name, len(pages), cut(format_pages(pages), PAGES_NAMED))
        for name, pages in by_source.items()
    ]
    return table(("source", "count", "pages"), rows)


def _routes(state: DocumentState, records: Iterable[PageRecord], now: float) -> str:
    dispatch = state.pages.dispatch
    if dispatch is None or not dispatch.pages:
        return ""
    # By name: a page of an earlier run counts for the route that read it, under whatever number.
    read = Counter[str]()
    for index, pages in Counter(record.read_by for record in records).items():
        if index is not None:
            read[state.route_keys[index]] += pages
    rows = []
    for index, route in enumerate(dispatch.routes):
        of_route, of_provider = dispatch.health.of(route)
        breaker = of_route if of_provider.state is BreakerState.CLOSED else of_provider
        rests = breaker.rests
        rows.append(
            (
                route.key,
                _breaker(breaker, now),
                _time(breaker.retry_at, now) if rests else "",
                dispatch.in_flight_on(index),
                read[route.key],
            )
        )
    return table(("route", "breaker", "next try, UTC", "in flight", "pages read"), rows)


def _breaker(breaker: Breaker, now: float) -> str:
    words = f"{breaker.state.value} {breaker.reason}".strip()
    if breaker.learned:
        words += f", since {_time(breaker.since, now)}, learned from another document"
    return words


def _errors(state: DocumentState) -> str:
    rows = [
        (number, route, error.code.value, error.error.removeprefix(f"{route}: "))
        for number, route, error in reversed(state.progress.last_errors)
    ]
    return table(("page", "route", "code", "last errors"), rows) if rows else ""


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _time(moment: float, now: float) -> str:
    """The time of day; with its date, unless that is the one of `now`."""
    date, today = _date(moment), _date(now)
    return date.partition(" ")[2] if date[:10] == today[:10] else date
