"""`list`: the documents, newest first."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.table import Table
from temporalio.client import WorkflowExecution
from temporalio.common import SearchAttributeKey

from console.exits import Exit, UsageError, print_json
from console.session import open_session
from domain.contracts import WORKFLOW_ID_PREFIX
from settings import Settings

STATES = {
    "running": "Running",
    "completed": "Completed",
    "failed": "Failed",
    "canceled": "Canceled",
    "terminated": "Terminated",
}
# The most telling first: a narrow terminal shows only those that fit.
COLUMNS = {
    "job_id": 22, "status": 9, "pages": 5, "fallback": 8, "cost": 8, "age": 6, "took": 7,
    "tokens": 8, "user_id": 12, "engine": 9,
}  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """Which documents to list."""

    status: str | None = None
    user: str | None = None
    fallback: bool = False
    since_s: float | None = None
    limit: int = 20

    def query(self, now: datetime) -> str:
        parts = ["WorkflowType = 'DocumentWorkflow'"]
        if self.status:
            if self.status not in STATES:
                raise UsageError(f"--status {self.status}: choose {', '.join(STATES)}.")
            parts.append(f"ExecutionStatus = '{STATES[self.status]}'")
        if self.user is not None:
            if "'" in self.user or "\\" in self.user:
                raise UsageError("--user: quotes and backslashes cannot be searched for.")
            parts.append(f"QuireUser = '{self.user}'")
        if self.fallback:
            parts.append("QuireFallbackPages > 0")
        if self.since_s is not None:
            start = now - timedelta(seconds=self.since_s)
            parts.append(f"StartTime >= '{start:%Y-%m-%dT%H:%M:%S.%f}Z'")
        return " AND ".join(parts)


async def show_list(settings: Settings, wanted: Wanted, *, as_json: bool) -> Exit:
    """From visibility alone: no worker is asked."""
    now = datetime.now(UTC)
    query = wanted.query(now)
    async with open_session(settings, roles=()) as session:
        found = session.client.list_workflows(query, limit=wanted.limit)
        rows = [_row(execution) async for execution in found]
    if as_json:
        print_json({"documents": rows})
    elif not rows:
        Console(highlight=False).print("No documents.")
    elif sys.stdout.isatty():
        console = Console(highlight=False)
        console.print(_table([_words(row, now) for row in rows], console.width))
    else:
        _print_lines([_words(row, now) for row in rows])
    return Exit.DONE


def _row(execution: WorkflowExecution) -> dict[str, Any]:
    attributes = execution.typed_search_attributes
    return {
        "job_id": execution.id.removeprefix(WORKFLOW_ID_PREFIX),
        "status": execution.status.name.lower() if execution.status else "",
        "started_at": execution.start_time.isoformat(),
        "completed_at": execution.close_time.isoformat() if execution.close_time else None,
        "user_id": attributes.get(SearchAttributeKey.for_keyword("QuireUser")),
        "engine": attributes.get(SearchAttributeKey.for_keyword("QuireEngine")),
        "pages": attributes.get(SearchAttributeKey.for_int("QuirePages")),
        "fallback_pages": attributes.get(SearchAttributeKey.for_int("QuireFallbackPages")),
        "tokens": attributes.get(SearchAttributeKey.for_int("QuireTokens")),
        "cost_usd": attributes.get(SearchAttributeKey.for_float("QuireCostUsd")),
    }


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
        for name in COLUMNS
        for value in [words[name] if name in words else row[name]]
    }


def short_time(seconds: float) -> str:
    """`12s`, `3m`, `5h`, `2d`."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def _table(rows: list[dict[str, str]], width: int) -> Table:
    room, names = width, list[str]()
    for name, size in COLUMNS.items():
        room -= size + 1
        if room < 0 and len(names) >= 2:
            break
        names.append(name)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, no_wrap=name != "job_id", overflow="fold")
    for row in rows:
        table.add_row(*(row[name] for name in names))
    return table


def _print_lines(rows: list[dict[str, str]]) -> None:
    """In a pipe: one line a document, tabs between, nothing cut."""
    lines = ["\t".join(COLUMNS), *("\t".join(row.values()) for row in rows)]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
