"""The rows of `list` as a table for people, or as lines in a pipe."""

import sys
from collections.abc import Sequence
from datetime import datetime

from quire.cli.output import say
from quire.cli.screen import screen
from quire.cli.table import Column, fitting_table
from quire.domain.counts import counted
from quire.jobs.list_jobs import JobRow, spent_on, total_of

COLUMNS = (
    # The most important first: a narrow terminal shows only those that fit.
    Column("job_id", 0, at_least=22),
    Column("status", 1),
    Column("pages", 2),
    Column("fallback", 3),
    Column("cost", 5),
    Column("age", 6),
    Column("took", 7),
    Column("tokens", 8),
    Column("user_id", 9, at_least=12),
    Column("engine", 10),
    Column("confidence", 11),
    # The last one: scripts may know the others by their place.
    Column("source_name", 4, at_least=16, cut=True),
)


def show_rows(rows: Sequence[JobRow], now: datetime) -> None:
    """Print a table with its total; in a pipe each line is a document, and the total goes to
    standard error."""
    words = [_words(row, now) for row in rows]
    if not rows:
        screen().print("No documents.")
    elif sys.stdout.isatty():
        screen().print(fitting_table(COLUMNS, words, screen().width))
        screen().print(total_words(rows))
    else:
        _print_lines(words)
        say(total_words(rows))


def total_words(rows: Sequence[JobRow]) -> str:
    """The sums of the rows in one line; an unknown price makes the cost a lower bound."""
    total = total_of(rows)
    documents = counted(total.documents, "document")
    if len(rows) > total.documents:
        documents = f"{counted(len(rows), 'run')} of {documents}"
    return f"{documents}, {counted(total.pages, 'page')}: {spent_on(rows).words()}"


def _words(row: JobRow, now: datetime) -> dict[str, str]:
    started = datetime.fromisoformat(row.started_at)
    ended = datetime.fromisoformat(row.completed_at) if row.completed_at else None
    cost = row.cost_usd
    words = {
        "age": short_time((now - started).total_seconds()),
        "took": short_time((ended - started).total_seconds()) if ended else None,
        "fallback": row.fallback_pages,
        "cost": None if cost is None else f"${cost:.4f}",
        "confidence": confidence_words(row.confidence, doubtful=bool(row.doubtful)),
        "source_name": _printable(row.source_name or "-"),
    }
    return {
        name: "" if value is None else str(value)
        for name in (column.name for column in COLUMNS)
        for value in [words[name] if name in words else getattr(row, name)]
    }


def confidence_words(confidence: float | None, *, doubtful: bool) -> str:
    """`0.97`, or `0.62?` of what is doubtful."""
    return "" if confidence is None else f"{confidence:.2f}{'?' if doubtful else ''}"


def _printable(name: str) -> str:
    """A file may have any name: line ends, tabs and control codes must not reach the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def short_time(seconds: float) -> str:
    """`12s`, `3m`, `5h`, `2d`."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def _print_lines(rows: list[dict[str, str]]) -> None:
    """One line a document, with tabs between the columns and nothing cut."""
    lines = [
        "\t".join(column.name for column in COLUMNS),
        *("\t".join(row.values()) for row in rows),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
