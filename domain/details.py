"""A document's live details for Temporal's Web UI, as Markdown. Pure: `now` is given."""

from collections import Counter
from collections.abc import Iterable, Sequence

from domain.breaker import BreakerState
from domain.contracts import DocumentRequest
from domain.pages import format_pages
from domain.progress import DocumentProgress

BAR = 30
GAP = "\u2003"
# Page numbers of one source are cut here: a long document's list would fill the screen.
PAGES_NAMED = 120


def render_details(progress: DocumentProgress, now: float) -> str:
    """Bar, pages by source, routes with their breakers, cost so far and the last errors."""
    parts = [_head(progress, now), _sources(progress), _routes(progress, now), _errors(progress)]
    return "\n\n".join(part for part in parts if part)


def render_request(request: DocumentRequest, engine: str) -> str:
    """What was asked for, told once at the start."""
    rows = {
        "file": request.source_name or request.source,
        "pages": request.pages or "all",
        "engine": "none, MuPDF's text only"
        if request.text_only
        else f"{engine}, tier {request.tier}",
        "owner": request.user_id or "-",
        "deadline": f"{request.deadline_s:g} s" if request.deadline_s else "as the workers have it",
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
    times = [f"{now - progress.started:.0f} s so far"]
    if progress.completed_at is None and progress.deadline is not None:
        times.append(f"deadline in {max(0.0, progress.deadline - now):.0f} s")
    if progress.timed_out:
        times.append("the deadline passed")
    lines.append("; ".join([*times, progress.spent.words()]))
    return "\n\n".join(lines)


def _sources(progress: DocumentProgress) -> str:
    by_source: dict[str, list[int]] = {}
    for record in progress.records():
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


def _routes(progress: DocumentProgress, now: float) -> str:
    dispatch = progress.dispatch
    if dispatch is None or not dispatch.pages:
        return ""
    read = Counter(record.read_by for record in dispatch.records.values())
    rows = []
    for index, route in enumerate(dispatch.routes):
        of_route, of_provider = dispatch.health.of(route)
        breaker = of_route if of_provider.state is BreakerState.CLOSED else of_provider
        rests = breaker.state is BreakerState.OPEN
        rows.append(
            (
                route.key,
                f"{breaker.state.value} {breaker.reason}".strip(),
                f"in {max(0.0, breaker.retry_at - now):.0f} s" if rests else "",
                dispatch.in_flight_on(index),
                read[index],
            )
        )
    return _table(("route", "breaker", "next try", "in flight", "pages read"), rows)


def _errors(progress: DocumentProgress) -> str:
    rows = [
        (number, route, error.code.value, error.error)
        for number, route, error in reversed(progress.last_errors)
    ]
    return _table(("page", "route", "code", "last errors"), rows) if rows else ""


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
