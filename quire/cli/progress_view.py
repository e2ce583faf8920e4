"""The live picture of one document: bar, a cell a page, routes and breakers, cost, time."""

from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.text import Text

from quire.contracts.status import BreakerStatus, DocumentStatus
from quire.domain.counts import counted
from quire.domain.document.details import bar
from quire.jobs.status import JobView

STYLES = {
    "mupdf": "blue",
    "ai": "green",
    "ocr": "cyan",
    "ocr_fallback": "yellow",
    "mupdf_fallback": "yellow",
    "mupdf_timeout_fallback": "red",
}
# The cells for the letters of the query `grid`; where a cell represents many pages, later ones win.
CELLS = {
    "m": ("■", "blue"),
    "a": ("■", "green"),
    "o": ("■", "cyan"),
    ".": ("·", "dim"),
    ">": ("▸", "bold"),
    "l": ("■", "yellow"),
    "f": ("■", "yellow"),
    "t": ("■", "red"),
}
GRID_ROWS = 8


def one_line(view: JobView) -> str:
    """Progress in one plain line."""
    status, detail = view.status, view.status.progress_detail
    done = status.completed_items + status.failed_items
    sources = ", ".join(f"{count} {name}" for name, count in detail.pages_by_source.items())
    resting = ", ".join(f"{b.key} {b.state}" for b in view.breakers if b.state != "closed")
    share = f" ({status.progress:.0f}%)" if status.total_items else ""
    parts = [
        f"{detail.phase}: {done:,}/{counted(status.total_items, 'page')}{share}",
        sources,
        resting,
        cost_words(detail.input_tokens + detail.output_tokens, detail.cost_usd),
    ]
    return "; ".join(part for part in parts if part)


def cost_words(tokens: int, cost_usd: float | None) -> str:
    """Dollars and tokens; empty when no tokens were used."""
    if not tokens:
        return ""
    dollars = "price unknown" if cost_usd is None else f"${cost_usd:.4f}"
    return f"{dollars}, {tokens:,} tokens"


def render(view: JobView, width: int) -> RenderableType:
    """The live picture, never wider than the terminal."""
    status, detail = view.status, view.status.progress_detail
    done, total = status.completed_items + status.failed_items, status.total_items
    count = f" {done:,}/{counted(total, 'page')} {status.progress:.0f}%"
    room = max(5, min(40, width - len(detail.phase) - len(count) - 2))
    lines: list[RenderableType] = [
        Text.assemble((detail.phase, "bold"), " ", (bar(done, total, room), "green"), count),
        Text("; ".join(part for part in _facts(status) if part), style="dim"),
    ]
    if status.estimate:
        lines.append(Text(status.estimate, style="dim"))
    if view.grid:
        lines.append(grid(view.grid, width))
    sources = Text("  ").join(
        Text(f"{name} {count}", style=STYLES.get(name, ""))
        for name, count in detail.pages_by_source.items()
    )
    if sources:
        lines.append(sources)
    lines += [_route(b) for b in view.breakers if b.state != "closed" or b.in_flight]
    lines += [Text(line, style="yellow") for line in status.waiting_for]
    return Group(*lines)


def grid(letters: str, width: int) -> Text:
    """A cell a page; in a long document a cell represents several, and shows the worst of them."""
    share = -(-len(letters) // (width * GRID_ROWS))
    order = list(CELLS)
    text = Text(overflow="fold")
    for start in range(0, len(letters), share):
        worst = max(letters[start : start + share], key=order.index)
        text.append(*CELLS[worst])
    return text


def _facts(status: DocumentStatus) -> list[str]:
    detail = status.progress_detail
    return [
        *_clock(status),
        cost_words(detail.input_tokens + detail.output_tokens, detail.cost_usd),
    ]


def _clock(status: DocumentStatus) -> list[str]:
    if not status.started_at or not status.deadline_at:
        return []
    started = datetime.fromisoformat(status.started_at)
    gone = (datetime.now(UTC) - started).total_seconds()
    allowed = (datetime.fromisoformat(status.deadline_at) - started).total_seconds()
    left = seconds_left(status, gone, allowed)
    return [f"{gone:.0f} s of {allowed:.0f} s", "" if left is None else f"about {left:.0f} s left"]


def seconds_left(status: DocumentStatus, gone: float, allowed: float) -> float | None:
    """By the pace so far, and never beyond the deadline; None before a first page was read."""
    detail = status.progress_detail
    read = sum(count for name, count in detail.pages_by_source.items() if name != "mupdf")
    open_pages = detail.waiting + detail.in_flight
    if not read or not open_pages:
        return None
    return max(0.0, min(gone * open_pages / read, allowed - gone))


def _route(breaker: BreakerStatus) -> Text:
    style = {"closed": "green", "open": "red", "half_open": "yellow"}[breaker.state]
    line = Text.assemble(
        ("● ", style), breaker.key, (f" {breaker.in_flight} in flight", "dim"), overflow="fold"
    )
    if breaker.retry_at:
        wait = (datetime.fromisoformat(breaker.retry_at) - datetime.now(UTC)).total_seconds()
        why = breaker.reason
        if breaker.learned_since:
            since = datetime.fromisoformat(breaker.learned_since).astimezone()
            why += f" since {since:%H:%M}, learned from another document"
        line.append(f" rests {max(0, round(wait))} s ({why})", style="red")
    return line
