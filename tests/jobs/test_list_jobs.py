"""Filters as visibility queries, and the rows and totals of what the server found."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.api.enums.v1.workflow_pb2 import WORKFLOW_EXECUTION_STATUS_COMPLETED
from temporalio.api.workflow.v1 import WorkflowExecutionInfo
from temporalio.client import Client, WorkflowExecution
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.converter import default, encode_search_attributes
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.names import STARTED_MEMO, workflow_id
from quire.jobs.list_jobs import BadFilter, JobFilter, JobRow, JobTotal, rows_of, total_of
from quire.temporal import search_attributes

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ALWAYS = "WorkflowType = 'DocumentWorkflow' AND ExecutionStatus != 'ContinuedAsNew'"


# --- the filter ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        (JobFilter(), ""),
        (JobFilter(limit=3, runs=True), ""),
        (JobFilter(status="running"), " AND ExecutionStatus = 'Running'"),
        (JobFilter(status="terminated"), " AND ExecutionStatus = 'Terminated'"),
        (JobFilter(user="o'hara"), " AND QuireUser = 'o''hara'"),
        (JobFilter(user=""), " AND QuireUser = ''"),
        (JobFilter(fallback=True), " AND QuireFallbackPages > 0"),
        (JobFilter(since_s=90.5), " AND StartTime >= '2026-05-04T11:58:29.500000Z'"),
        (
            JobFilter(status="failed", user="ann", fallback=True, since_s=0),
            " AND ExecutionStatus = 'Failed' AND QuireUser = 'ann' AND QuireFallbackPages > 0"
            " AND StartTime >= '2026-05-04T12:00:00.000000Z'",
        ),
    ],
)
def test_a_filter_is_a_visibility_query(wanted: JobFilter, part: str) -> None:
    assert wanted.query(NOW) == ALWAYS + part
    wanted.check()


@pytest.mark.parametrize(
    ("wanted", "field", "words"),
    [
        (JobFilter(status="odd"), "status", "choose running, completed, failed, terminated."),
        (JobFilter(status="Running"), "status", "choose running"),
        (JobFilter(status="cancelled"), "status", "a cancelled document is completed"),
        (JobFilter(user='a" OR "b'), "user", "cannot be searched for"),
        (JobFilter(user="a\\b"), "user", "cannot be searched for"),
    ],
)
def test_a_filter_that_cannot_work_names_field_and_problem(
    wanted: JobFilter, field: str, words: str
) -> None:
    with pytest.raises(BadFilter) as refused:
        wanted.check()
    assert refused.value.field == field
    assert words in refused.value.problem
    assert (refused.value.remedy is not None) == (wanted.status == "cancelled")


# --- rows ----------------------------------------------------------------------------------


async def run_of(
    job_id: str, run: str, *, age_h: float, memo_age_h: float | None = None, **fields: Any
) -> WorkflowExecution:
    """A run as the server lists it."""
    info = WorkflowExecutionInfo(status=WORKFLOW_EXECUTION_STATUS_COMPLETED)
    info.execution.workflow_id = workflow_id(job_id)
    info.execution.run_id = run
    info.start_time.FromDatetime(NOW - timedelta(hours=age_h))
    info.close_time.FromDatetime(NOW)
    if memo_age_h is not None:
        started = (NOW - timedelta(hours=memo_age_h)).isoformat()
        (payload,) = await default().encode([started])
        info.memo.fields[STARTED_MEMO].CopyFrom(payload)
    pairs = [
        SearchAttributePair(getattr(search_attributes, name), value)
        for name, value in fields.items()
    ]
    encode_search_attributes(TypedSearchAttributes(pairs), info.search_attributes)
    return WorkflowExecution._from_raw_info(info, "default", default())


def server_with(latest: dict[str, str]) -> Client:
    """Answers which run of a job is its latest; other jobs are gone."""

    def handle(name: str) -> Any:
        async def describe() -> Any:
            if name not in latest:
                raise RPCError("gone", RPCStatusCode.NOT_FOUND, b"")
            return SimpleNamespace(run_id=latest[name])

        return SimpleNamespace(describe=describe)

    return cast(Client, SimpleNamespace(get_workflow_handle=handle))


async def rows_from(
    wanted: JobFilter, *runs: WorkflowExecution, latest: dict[str, str] | None = None
) -> list[JobRow]:
    async def found() -> AsyncIterator[WorkflowExecution]:
        for run in runs:
            yield run

    return await rows_of(server_with(latest or {}), found(), wanted, NOW)


async def test_a_row_has_what_the_server_knows() -> None:
    run = await run_of("a", "1", age_h=1, USER="ann", ENGINE="openai", PAGES=7, COST_USD=0.5)
    (row,) = await rows_from(JobFilter(), run)
    assert row == JobRow(
        job_id="a",
        status="completed",
        started_at="2026-05-04T11:00:00+00:00",
        completed_at="2026-05-04T12:00:00+00:00",
        user_id="ann",
        engine="openai",
        pages=7,
        cost_usd=0.5,
    )


async def test_a_job_has_one_row_or_one_for_every_run() -> None:
    runs = [await run_of("a", "2", age_h=1), await run_of("a", "1", age_h=2)]
    assert [row.started_at[11:13] for row in await rows_from(JobFilter(), *runs)] == ["11"]
    every = await rows_from(JobFilter(runs=True), *runs)
    assert [row.started_at[11:13] for row in every] == ["11", "10"]


async def test_one_row_more_than_the_limit_shows_that_there_are_more() -> None:
    runs = [await run_of(name, "1", age_h=1) for name in "abcd"]
    assert len(await rows_from(JobFilter(limit=2), *runs)) == 3
    assert len(await rows_from(JobFilter(limit=4), *runs)) == 4


async def test_age_counts_from_the_start_of_the_document() -> None:
    """A long document continues in further runs; the memo has its own start."""
    long = await run_of("long", "9", age_h=1, memo_age_h=3)
    ahead = await run_of("ahead", "1", age_h=1, memo_age_h=0.5)
    (row,) = await rows_from(JobFilter(since_s=2 * 3600), long, ahead)
    assert (row.job_id, row.started_at) == ("ahead", "2026-05-04T11:00:00+00:00")
    (row,) = await rows_from(JobFilter(since_s=4 * 3600), long)
    assert row.started_at == "2026-05-04T09:00:00+00:00"


@pytest.mark.parametrize("wanted", [JobFilter(fallback=True), JobFilter(status="failed")])
async def test_an_outcome_is_that_of_the_latest_run(wanted: JobFilter) -> None:
    """A search by outcome also finds earlier runs, of jobs that have since been read again."""
    runs = [await run_of(name, "1", age_h=1) for name in ("same", "again", "gone")]
    latest = {workflow_id("same"): "1", workflow_id("again"): "2"}
    assert [row.job_id for row in await rows_from(wanted, *runs, latest=latest)] == ["same"]


# --- totals --------------------------------------------------------------------------------


def test_totals_count_documents_once_and_every_run_is_paid() -> None:
    rows = [
        JobRow("a", "completed", "", pages=3, tokens=100, cost_usd=0.25),
        JobRow("a", "completed", "", pages=3, tokens=50, cost_usd=0.5),
        JobRow("b", "completed", "", pages=1, tokens=0, cost_usd=0.0),
    ]
    assert total_of(rows) == JobTotal(documents=2, pages=7, tokens=150, cost_usd=0.75)
    assert total_of([]) == JobTotal(documents=0, pages=0, tokens=0, cost_usd=0.0)


def test_a_row_without_a_price_leaves_the_total_open() -> None:
    rows = [JobRow("a", "completed", "", tokens=1, cost_usd=1.0), JobRow("b", "running", "")]
    assert total_of(rows) == JobTotal(documents=2, pages=0, tokens=1, cost_usd=None)
