"""The rows of `list`, for people, and what they add up to."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from quire.cli.exits import say
from quire.cli.screen import screen
from quire.cli.tables import Column, fitting_table
from quire.contracts.money import Paid
from quire.domain.cost import Spending

COLUMNS = (
    # The most telling first: a narrow terminal shows only those that fit.
    Column("job_id", 0, at_least=22),
    Column("status", 1),
    Column("pages", 2),
    Column("fallback", 3),
    Column("cost", 4),
    Column("age", 5),
    Column("took", 6),
    Column("tokens", 7),
    Column("user_id", 8, at_least=12),
    Column("engine", 9),
)


def show_rows(rows: Sequence[dict[str, Any]], now: datetime) -> None:
    """A table with its total; in a pipe, where each line is a document, that goes beside it."""
    words = [_words(row, now) for row in rows]
    if not rows:
        screen().print("No documents.")
    elif sys.stdout.isatty():
        screen().print(fitting_table(COLUMNS, words, screen().width))
        screen().print(total_words(rows))
    else:
        _print_lines(words)
        say(total_words(rows))


def total_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The sums of the rows; of the cost there is none where a single one is unknown."""
    spent = _spent(rows)
    return {
        "documents": len({row["job_id"] for row in rows}),
        "pages": sum(row["pages"] or 0 for row in rows),
        "tokens": spent.tokens,
        "cost_usd": spent.dollars,
    }


def total_words(rows: Sequence[dict[str, Any]]) -> str:
    """The same in a line, in which an unknown price leaves a lower bound."""
    total = total_of(rows)
    documents = _count(total["documents"], "document")
    if len(rows) > total["documents"]:
        documents = f"{len(rows)} runs of {documents}"
    return f"{documents}, {_count(total['pages'], 'page')}: {_spent(rows).words()}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _spent(rows: Sequence[dict[str, Any]]) -> Spending:
    spent = Spending()
    spent.add(*(Paid.of(row["tokens"] or 0, 0, row["cost_usd"]) for row in rows))
    return spent


def _words(row: dict[str, Any], now: datetime) -> dict[str, str]:
    started = datetime.fromisoformat(row["started_at"])
    ended = datetime.fromisoformat(row["completed_at"]) if row["completed_at"] else None
    cost = row["cost_usd"]
    words = {
        "age": short_time((now - started).total_seconds()),
        "took": short_time((ended - started).total_seconds()) if ended else None,
        "fallback": row["fallback_pages"],
        "cost": None if cost is None else f"${cost:.4f}",
    }
    return {
        name: "" if value is None else str(value)
        for name in (column.name for column in COLUMNS)
        for value in [words[name] if name in words else row[name]]
    }


def short_time(seconds: float) -> str:
    """`12s`, `3m`, `5h`, `2d`."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def _print_lines(rows: list[dict[str, str]]) -> None:
    """In a pipe: one line a document, tabs between, nothing cut."""
    lines = [
        "\t".join(column.name for column in COLUMNS),
        *("\t".join(row.values()) for row in rows),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
