"""Lists documents, newest first, by the search attributes of the server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from temporalio.client import Client, WorkflowExecution, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.money import Paid
from quire.contracts.names import NAME_MEMO, STARTED_MEMO, WORKFLOW_ID_PREFIX
from quire.domain.cost import Spending
from quire.domain.errors import QuireError
from quire.jobs.handles import handle_of
from quire.jobs.session import Jobs, query_worker
from quire.temporal import search_attributes
from workflows.document.workflow import DocumentWorkflow

STATES = {
    "running": "Running",
    "completed": "Completed",
    "failed": "Failed",
    "terminated": "Terminated",
}
# A person must not wait long for a query that no worker answers.
ANSWER_WITHIN = timedelta(seconds=2)


class BadFilter(ValueError):
    """A filter that cannot work; `problem` follows the field's name in a message."""

    def __init__(self, field: str, problem: str, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.field = field
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True)
class JobFilter:
    """Which documents to list."""

    status: str | None = None
    user: str | None = None
    fallback: bool = False
    doubtful: bool = False
    since_s: float | None = None
    limit: int = 20
    # A row for every run of a job, and not only for its latest.
    runs: bool = False

    @property
    def by_outcome(self) -> bool:
        """Whether an earlier run of a job may match while its latest does not."""
        return self.fallback or self.doubtful or self.status not in (None, "running")

    def check(self) -> None:
        """Raise `BadFilter` for what the server cannot search for."""
        self.query(datetime.now(UTC))

    def query(self, now: datetime) -> str:
        """The filter as a visibility query of Temporal."""
        # A run that continued as new is not a document; only the last run counts.
        parts = ["WorkflowType = 'DocumentWorkflow'", "ExecutionStatus != 'ContinuedAsNew'"]
        if self.status:
            parts.append(f"ExecutionStatus = '{_state(self.status)}'")
        if self.user is not None:
            parts.append(f"{search_attributes.USER.name} = {_quoted(self.user)}")
        if self.fallback:
            parts.append(f"{search_attributes.FALLBACK_PAGES.name} > 0")
        if self.doubtful:
            parts.append(f"{search_attributes.DOUBTFUL.name} = true")
        if self.since_s is not None:
            # The last run starts no earlier than the document, whose start is checked later.
            start = now - timedelta(seconds=self.since_s)
            parts.append(f"StartTime >= '{start:%Y-%m-%dT%H:%M:%S.%f}Z'")
        return " AND ".join(parts)


@dataclass(frozen=True)
class JobRow:
    """One document of a list; its fields are those of the JSON. None is not known yet."""

    job_id: str
    status: str
    started_at: str
    completed_at: str | None = None
    user_id: str | None = None
    engine: str | None = None
    pages: int | None = None
    fallback_pages: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    # Unknown for a job that was started without it, as by an older version.
    source_name: str | None = None
    # Whether it has pages of which little can be believed, and how far its text can be believed;
    # unknown of a job of an older version, too.
    doubtful: bool | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class JobTotal:
    """The sums of rows; the cost is None when the cost of a single row is unknown."""

    documents: int
    pages: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class JobList:
    """The rows that were found, and whether there are more."""

    rows: tuple[JobRow, ...]
    more: bool
    at: datetime = field(compare=False)


async def list_jobs(jobs: Jobs, wanted: JobFilter) -> JobList:
    """The documents that match; running ones are queried for what they have paid so far."""
    now = datetime.now(UTC)
    found = jobs.client.list_workflows(wanted.query(now), page_size=wanted.limit + 1)
    rows = await rows_of(jobs.client, found, wanted, now)
    rows, more = rows[: wanted.limit], len(rows) > wanted.limit
    if any(row.status == "running" for row in rows):
        async with query_worker(jobs):
            rows = list(await asyncio.gather(*(_with_spending(jobs.client, r) for r in rows)))
    return JobList(tuple(rows), more, now)


def total_of(rows: Sequence[JobRow]) -> JobTotal:
    """The sums of the rows."""
    spent = spent_on(rows)
    return JobTotal(
        documents=len({row.job_id for row in rows}),
        pages=sum(row.pages or 0 for row in rows),
        tokens=spent.tokens,
        cost_usd=spent.dollars,
    )


def spent_on(rows: Sequence[JobRow]) -> Spending:
    """What the rows cost together."""
    spent = Spending()
    spent.add(*(Paid.of(row.tokens or 0, 0, row.cost_usd) for row in rows))
    return spent


def _state(status: str) -> str:
    if status in ("canceled", "cancelled"):
        # No search attribute distinguishes them from the others.
        raise BadFilter(
            "status",
            "a cancelled document is completed, or failed if it had no pages.",
            "Use --fallback or --status failed; result JOB --json says which were cancelled.",
        )
    if status not in STATES:
        raise BadFilter("status", f"choose {', '.join(STATES)}.")
    return STATES[status]


def _quoted(text: str) -> str:
    """The text as a literal of a visibility query. The embedded server finds nothing with these two
    characters, however they are escaped."""
    if '"' in text or "\\" in text:
        raise BadFilter("user", "double quotes and backslashes cannot be searched for.")
    return "'" + text.replace("'", "''") + "'"


async def rows_of(
    client: Client, found: AsyncIterator[WorkflowExecution], wanted: JobFilter, now: datetime
) -> list[JobRow]:
    """One row a job, for its latest run, or a row for every run; one row more than the limit when
    there are more."""
    rows, seen = list[JobRow](), set[str]()
    async for execution in found:
        if execution.id in seen and not wanted.runs:
            continue
        seen.add(execution.id)
        started = await _started(execution)
        too_old = wanted.since_s is not None and started < now - timedelta(seconds=wanted.since_s)
        doubtful = wanted.by_outcome and not wanted.runs
        if too_old or (doubtful and not await _is_latest(client, execution)):
            continue
        name = await _recorded(execution, NAME_MEMO)
        rows.append(_row(execution, started, name or None))
        if len(rows) > wanted.limit:
            break
    return rows


async def _started(execution: WorkflowExecution) -> datetime:
    """When the document was started: a long one continues in further runs with their own starts.
    A job that is run again counts from that run."""
    recorded = await _recorded(execution, STARTED_MEMO)
    # The memo is by the clock of the client, which may be ahead of the server's.
    if not recorded:
        return execution.start_time
    return min(datetime.fromisoformat(recorded), execution.start_time)


async def _recorded(execution: WorkflowExecution, memo: str) -> str | None:
    """What the job's start recorded; the list holds it already, so no one is asked."""
    try:
        found = await execution.memo_value(memo, default=None, type_hint=str)
    except (QuireError, KeyError):  # encrypted, with keys that this client does not have
        return None
    return found if isinstance(found, str) else None


async def _is_latest(client: Client, execution: WorkflowExecution) -> bool:
    """Whether this is the job's latest run: a later one may have another outcome."""
    try:
        latest = await client.get_workflow_handle(execution.id).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return latest.run_id == execution.run_id


def _row(execution: WorkflowExecution, started: datetime, name: str | None) -> JobRow:
    attributes = execution.typed_search_attributes
    return JobRow(
        job_id=execution.id.removeprefix(WORKFLOW_ID_PREFIX),
        status=execution.status.name.lower() if execution.status else "",
        started_at=started.isoformat(),
        completed_at=execution.close_time.isoformat() if execution.close_time else None,
        user_id=attributes.get(search_attributes.USER),
        engine=attributes.get(search_attributes.ENGINE),
        pages=attributes.get(search_attributes.PAGES),
        fallback_pages=attributes.get(search_attributes.FALLBACK_PAGES),
        tokens=attributes.get(search_attributes.TOKENS),
        cost_usd=attributes.get(search_attributes.COST_USD),
        source_name=name,
        doubtful=attributes.get(search_attributes.DOUBTFUL),
        confidence=attributes.get(search_attributes.CONFIDENCE),
    )


async def _with_spending(client: Client, row: JobRow) -> JobRow:
    """The row with the cost so far, which search attributes hold only at the end. It stays empty
    where no worker answers."""
    if row.status != "running":
        return row
    handle = handle_of(client, row.job_id)
    try:
        status = await handle.query(DocumentWorkflow.status, rpc_timeout=ANSWER_WITHIN)
    except (RPCError, WorkflowQueryFailedError, QuireError):
        return row
    detail = status.progress_detail
    tokens = detail.input_tokens + detail.output_tokens
    return replace(row, tokens=tokens, cost_usd=detail.cost_usd)
