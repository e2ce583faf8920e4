"""`list`: the documents, newest first."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowExecution, WorkflowQueryFailedError
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from quire.cli import jobs
from quire.cli.exits import Exit, UsageError, print_json, say
from quire.cli.rows import show_rows, total_of
from quire.cli.session import answering, open_session
from quire.contracts.names import STARTED_MEMO, WORKFLOW_ID_PREFIX
from quire.domain.errors import QuireError
from quire.settings import Settings
from workflows.document.workflow import DocumentWorkflow

STATES = {
    "running": "Running",
    "completed": "Completed",
    "failed": "Failed",
    "terminated": "Terminated",
}
# A query that no worker answers must not keep a person waiting.
ANSWER_WITHIN = timedelta(seconds=2)


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
            parts.append(f"ExecutionStatus = '{_state(self.status)}'")
        if self.user is not None:
            parts.append(f"QuireUser = {_quoted(self.user)}")
        if self.fallback:
            parts.append("QuireFallbackPages > 0")
        if self.since_s is not None:
            # The last run's start is no earlier than the document's, which is looked at later.
            start = now - timedelta(seconds=self.since_s)
            parts.append(f"StartTime >= '{start:%Y-%m-%dT%H:%M:%S.%f}Z'")
        return " AND ".join(parts)


def _state(status: str) -> str:
    if status in ("canceled", "cancelled"):
        # Nothing that the server can search for tells them from the others.
        raise UsageError(
            f"--status {status}: a cancelled document is completed, or failed if it had no pages.",
            "Use --fallback or --status failed; result JOB --json tells which were cancelled.",
        )
    if status not in STATES:
        raise UsageError(f"--status {status}: choose {', '.join(STATES)}.")
    return STATES[status]


def _quoted(text: str) -> str:
    """As a visibility query has it. These two would find nothing on the embedded server, in
    whatever way they are escaped."""
    if '"' in text or "\\" in text:
        raise UsageError("--user: double quotes and backslashes cannot be searched for.")
    return "'" + text.replace("'", "''") + "'"


async def show_list(settings: Settings, wanted: Wanted, *, as_json: bool) -> Exit:
    """From the server alone; only running documents are asked, what they have paid so far."""
    now = datetime.now(UTC)
    query = wanted.query(now)
    async with open_session(settings, roles=()) as session:
        found = session.client.list_workflows(query, page_size=wanted.limit + 1)
        rows = await rows_of(session.client, found, wanted, now)
        rows, more = rows[: wanted.limit], len(rows) > wanted.limit
        running = [row for row in rows if row["status"] == "running"]
        if running:
            async with answering(session):
                await asyncio.gather(*(_ask_spending(session.client, row) for row in running))
    if as_json:
        print_json({"documents": rows, "total": total_of(rows), "more": more})
    else:
        show_rows(rows, now)
    if more:
        say(f"more exist: --limit {2 * wanted.limit}")
    return Exit.DONE


async def rows_of(
    client: Client, found: AsyncIterator[WorkflowExecution], wanted: Wanted, now: datetime
) -> list[dict[str, Any]]:
    """One row a job, unless every run is wanted: the latest one speaks for it. One row more than
    the limit tells that there are more."""
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
        if len(rows) > wanted.limit:
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


async def _ask_spending(client: Client, row: dict[str, Any]) -> None:
    """Search attributes tell it at the end only. Stays empty where no worker answers."""
    handle = jobs.handle_of(client, row["job_id"])
    try:
        status = await handle.query(DocumentWorkflow.status, rpc_timeout=ANSWER_WITHIN)
    except (RPCError, WorkflowQueryFailedError, QuireError):
        return
    detail = status.progress_detail
    row["tokens"] = detail.input_tokens + detail.output_tokens
    row["cost_usd"] = detail.cost_usd
