"""The live picture of a batch: bar, documents by state, pages, cost, time, last failures."""

from rich.console import Group, RenderableType
from rich.text import Text

from quire.cli.job_table import short_time
from quire.cli.progress_view import STYLES, cost_words
from quire.contracts.batch_status import BatchStatus
from quire.domain.counts import counted
from quire.domain.document.details import bar, cut

STATE_STYLES = {
    "done": "green",
    "degraded": "yellow",
    "failed": "red",
    "cancelled": "magenta",
    "not_started": "red",
    "running": "bold",
    "waiting": "dim",
}


def one_line(status: BatchStatus) -> str:
    """Progress in one plain line."""
    detail = status.progress_detail
    ended = detail.counts.ended
    parts = [
        f"{_phase(status)}: {ended:,}/{counted(status.total_items, 'document')}"
        f" ({status.progress:.0f}%)",
        ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in _states(status)),
        counted(detail.pages, "page") if detail.pages else "",
        cost_words(detail.input_tokens + detail.output_tokens, detail.cost_usd),
        _time_left(status),
        detail.stopped_by or "",
    ]
    return "; ".join(part for part in parts if part)


def render(status: BatchStatus, width: int) -> RenderableType:
    """The live picture, never wider than the terminal."""
    detail = status.progress_detail
    ended, total = detail.counts.ended, status.total_items
    count = f" {ended:,}/{counted(total, 'document')} {status.progress:.0f}%"
    room = max(5, min(40, width - len(_phase(status)) - len(count) - 2))
    lines: list[RenderableType] = [
        Text.assemble((_phase(status), "bold"), " ", (bar(ended, total, room), "green"), count),
        Text("  ").join(
            Text(f"{name.replace('_', ' ')} {number:,}", style=STATE_STYLES.get(name, ""))
            for name, number in _states(status)
        ),
    ]
    facts = [
        cost_words(detail.input_tokens + detail.output_tokens, detail.cost_usd),
        _pace(status),
        _time_left(status),
    ]
    lines.append(Text("; ".join(fact for fact in facts if fact), style="dim"))
    if detail.pages_by_source:
        pages = Text(f"{counted(detail.pages, 'page')}:")
        for name, number in detail.pages_by_source.items():
            pages.append(f"  {name} {number:,}", style=STYLES.get(name, ""))
        lines.append(pages)
    if detail.stopped_by:
        lines.append(Text(f"nothing more is started: {detail.stopped_by}", style="yellow"))
    for failure in detail.last_failures:
        words = f"✗ {failure.number} {printable(failure.source)}: {failure.code} {failure.message}"
        lines.append(Text(cut(printable(words), width), style="red"))
    return Group(*lines)


def printable(words: str) -> str:
    """A file may have any name: line ends and control codes must not reach the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def _phase(status: BatchStatus) -> str:
    detail = status.progress_detail
    if status.status == "completed":
        return "cancelled" if detail.cancelled else "done"
    return "paused" if detail.paused else detail.phase


def _states(status: BatchStatus) -> list[tuple[str, int]]:
    return [(name, number) for name, number in status.progress_detail.counts if number]


def _pace(status: BatchStatus) -> str:
    an_hour = status.progress_detail.documents_an_hour
    return "" if an_hour is None else f"{an_hour:,.0f} documents an hour"


def _time_left(status: BatchStatus) -> str:
    left = status.progress_detail.eta_s
    return "" if left is None else f"about {short_time(left)} left"
