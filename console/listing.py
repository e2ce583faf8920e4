"""`list`: the documents, newest first."""

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowExecution
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from console.exits import Exit, UsageError, print_json
from console.screen import screen
from console.session import open_session
from console.tables import Column, fitting_table
from domain.contracts import STARTED_MEMO, WORKFLOW_ID_PREFIX
from domain.errors import QuireError
from settings import Settings

STATES = {
    "running": "Running",
    "completed": "Completed",
    "failed": "Failed",
    "canceled": "Canceled",
    "terminated": "Terminated",
}
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


@dataclass(frozen=True)
class Wanted:
    """Which documents to list."""

    status: str | None = None
    user: str | None = None
    fallback: bool = False
    since_s: float | None = None
    limit: int = 20
    # A row for every run of a job, and not only for its latest.
    runs: bool = False

    @property
    def by_outcome(self) -> bool:
        """Whether an earlier run of a job may fit while its latest does not."""
        return self.fallback or self.status not in (None, "running")

    def query(self, now: datetime) -> str:
        # A run that was continued is no document of its own: its last run speaks for it.
        parts = ["WorkflowType = 'DocumentWorkflow'", "ExecutionStatus != 'ContinuedAsNew'"]
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
            # The last run's start is no earlier than the document's, which is looked at later.
            start = now - timedelta(seconds=self.since_s)
            parts.append(f"StartTime >= '{start:%Y-%m-%dT%H:%M:%S.%f}Z'")
        return " AND ".join(parts)


async def show_list(settings: Settings, wanted: Wanted, *, as_json: bool) -> Exit:
    """From the server alone: no worker is asked."""
    now = datetime.now(UTC)
    query = wanted.query(now)
    async with open_session(settings, roles=()) as session:
        found = session.client.list_workflows(query, page_size=wanted.limit)
        rows = await rows_of(session.client, found, wanted, now)
    if as_json:
        print_json({"documents": rows})
    elif not rows:
        screen().print("No documents.")
    elif sys.stdout.isatty():
        words = [_words(row, now) for row in rows]
        screen().print(fitting_table(COLUMNS, words, screen().width))
    else:
        _print_lines([_words(row, now) for row in rows])
    return Exit.DONE


async def rows_of(
    client: Client, found: AsyncIterator[WorkflowExecution], wanted: Wanted, now: datetime
) -> list[dict[str, Any]]:
    """One row a job, unless every run is wanted: the latest one speaks for it."""
    rows, seen = list[dict[str, Any]](), set[str]()
    async for execution in found:
        if execution.id in seen and not wanted.runs:
            continue
        seen.add(execution.id)
        started = await _started(execution)
        too_old = wanted.since_s is not None and started < now - timedelta(seconds=wanted.since_s)
        doubtful = wanted.by_outcome and not wanted.runs
        if too_old or (doubtful and not await _is_latest(client, execution)):
            continue
        rows.append(_row(execution, started))
        if len(rows) == wanted.limit:
            break
    return rows


async def _started(execution: WorkflowExecution) -> datetime:
    """When the document was begun: a long one continues in further runs, each with its own start.
    A job that is read again counts from there."""
    try:
        told = await execution.memo_value(STARTED_MEMO, default=None, type_hint=str)
    except (QuireError, KeyError):  # encrypted, with keys that this client does not have
        told = None
    # The memo has its time from the clock of whoever asked, which may be ahead.
    return min(datetime.fromisoformat(told), execution.start_time) if told else execution.start_time


async def _is_latest(client: Client, execution: WorkflowExecution) -> bool:
    """Whether no later run of the job has another outcome: read again, a document that fell back
    may be whole."""
    try:
        latest = await client.get_workflow_handle(execution.id).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return latest.run_id == execution.run_id


def _row(execution: WorkflowExecution, started: datetime) -> dict[str, Any]:
    attributes = execution.typed_search_attributes
    return {
        "job_id": execution.id.removeprefix(WORKFLOW_ID_PREFIX),
        "status": execution.status.name.lower() if execution.status else "",
        "started_at": started.isoformat(),
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
