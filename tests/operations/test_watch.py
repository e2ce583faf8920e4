"""`watch` and `list` in wide and narrow terminals and in a pipe."""

import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quire.cli.job_table import total_words
from quire.cli.list import check_filter
from quire.cli.progress_view import grid, seconds_left
from quire.cli.screen import screen
from quire.contracts.status import DocumentStatus, ProgressDetail
from quire.domain.errors import UsageError
from quire.jobs.list_jobs import JobFilter, JobRow, rows_of, total_of
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import (
    vendor_answers,
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
    vendor_rejects_page,
)
from testing.vendor.standin import StandIn
from testing.worker import RunningWorker, running_worker
from tests.operations.terminal import lines_of, run_in_terminal

BLUE, GREEN = "\x1b[34m", "\x1b[32m"


@pytest.fixture
def worker(tool: Tool) -> Iterator[RunningWorker]:
    with running_worker(tool) as running:
        yield running


@pytest.mark.long
def test_watch_in_terminals_and_in_a_pipe(
    worker: RunningWorker, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    client = worker.client(tmp_path / "client")
    vendor.behave(vendor_answers_late(2))
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    for job, columns in (("wide", 80), ("narrow", 40)):
        assert client.run("process", mixed, "--detach", "--force", "--job-id", job).code == 0
        recorded = run_in_terminal(client, columns, "watch", job)
        drawn = lines_of(recorded)
        assert any("█" in line and "/12 pages" in line for line in drawn)
        assert any(line.startswith("■■■■") for line in drawn), "a cell a page"
        assert BLUE + "■" in recorded, "pages with MuPDF's text"
        assert GREEN + "■" in recorded, "pages that a model read"
        assert any("s left" in line for line in drawn)
        assert any("openai:gpt-6.1-sol" in line and "rests" in line for line in joined(drawn))
        report = drawn[drawn.index(next(line for line in drawn if line.startswith("page "))) :]
        names = "page class source read by chars why" if columns == 80 else "page source why"
        assert report[0].split() == names.split()
        assert [line.split()[0] for line in report[1:13]] == [str(n) for n in range(1, 13)]
        assert "12 pages in" in report[13]
        # Only the path is left to the terminal to wrap, so that it can be copied.
        too_wide = [line for line in drawn if len(line) > columns and "text: " not in line]
        assert not too_wide, too_wide
    assert client.run("process", mixed, "--detach", "--force", "--job-id", "pipe").code == 0
    piped = client.run("watch", "pipe")
    assert piped.code == 0
    assert "\x1b" not in piped.out + piped.err
    assert "dispatch: " in piped.err
    assert "openai:gpt-6.1-sol open" in piped.err
    assert "12 pages in" in piped.out
    assert "tokens" in piped.out


def joined(lines: list[str]) -> list[str]:
    """A long line folded by a narrow terminal, in one piece again."""
    return [one + two for one, two in zip(lines, [*lines[1:], ""], strict=True)]


def test_text_comes_in_order_and_is_the_result(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path
) -> None:
    """Page 5 is the slowest: 6 and later are read before it and printed after it."""
    client = shared_tool
    shared_vendor.behave(vendor_answers_late(0.2))
    shared_vendor.behave(vendor_answers_late(3), marker="page 5 of")
    assert client.run("process", own_mixed, "--detach", "--job-id", "text").code == 0
    process = client.start("watch", "text", "--text")
    assert process.stdout is not None
    early = "".join(process.stdout.readline() for _ in range(4))
    assert "=== Page 1 ===" in early
    assert len([call for call in shared_vendor.calls() if call.ended]) < 8, "before the end"
    rest = process.stdout.read()
    assert process.wait(60) == 0
    report = client.run("result", "text", "--json").json
    whole = Path(report["metadata"]["result_local_path"]).read_text(encoding="utf-8")
    assert early + rest == whole
    again = client.run("watch", "text", "--text")
    assert again.out == whole, "also when it is done"
    assert client.run("watch", "text", "--text", "--json").code == 2


def test_a_reader_who_leaves_ends_the_command_and_not_the_job(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path, one_page: Path
) -> None:
    client = shared_tool
    shared_vendor.behave(vendor_answers_late(0.2))
    shared_vendor.behave(vendor_answers_late(40), marker="page 12 of")
    assert client.run("process", own_mixed, "--detach", "--job-id", "left").code == 0
    watching = client.start("watch", "left", "--text")
    assert watching.stdout is not None
    assert watching.stdout.readline() == "=== Page 1 ===\n"
    assert leave(watching) == (141, "")
    interrupted = client.start("watch", "left")
    assert interrupted.stderr is not None
    assert "dispatch: " in interrupted.stderr.readline()
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(30) == 130
    assert client.run("status", "left", "--json").json["status"] == "running"
    code, said = leave(client.start("process", one_page, "--json", "--job-id", "alone"))
    assert code == 141
    assert "Quire failed" not in said
    assert "Traceback" not in said
    assert client.run("result", "alone", "--json").code == 0
    for command in (("list",), ("list", "--json"), ("result", "alone"), ("--help",)):
        assert leave(client.start(*command)) == (141, ""), command
    shared_vendor.release()
    assert client.run("watch", "left", "--json").sources() == {"mupdf": 4, "ai": 8}


def leave(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Close the reading end of a command's output; its exit code, and what it said."""
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    return process.wait(60), said


def test_list_filters_and_shows_what_it_cost(
    worker: RunningWorker, vendor: StandIn, mixed: Path, one_page: Path, tmp_path: Path
) -> None:
    client = worker.client(tmp_path / "client")
    vendor.behave(vendor_rejects_page(), marker="page 7 of")
    ran = client.process(mixed, "--job-id", "fell-back", "--user", "ada")
    client.process(one_page, "--job-id", "plain", "--user", "bob")

    def jobs(*filters: str) -> set[str]:
        listed = client.run("list", "--json", *filters).json["documents"]
        return {row["job_id"] for row in listed}

    assert jobs("--since", "1h", "--status", "completed") == {"fell-back", "plain"}
    assert jobs("--since", "1ms") == jobs("--status", "running") == set()
    assert jobs("--fallback") == {"fell-back"}
    (row,) = client.run("list", "--json", "--user", "ada").json["documents"]
    meta = ran.json["metadata"]
    assert row["tokens"] == meta["input_tokens"] + meta["output_tokens"] > 0
    assert row["cost_usd"] == pytest.approx(meta["cost_usd"])
    piped = client.run("list").out.splitlines()
    assert [line.split("\t")[0] for line in piped] == ["job_id", "plain", "fell-back"]
    for columns in (80, 40):
        drawn = lines_of(run_in_terminal(client, columns, "list"))
        assert any(line.startswith("fell-back") and "completed" in line for line in drawn)
        assert any(line.startswith("2 documents, 13 pages: $") for line in drawn)
        assert all(len(line) <= columns for line in drawn)
    detail = client.run("status", "fell-back", "--json").json["progress_detail"]
    assert detail["input_tokens"] == meta["input_tokens"]
    assert detail["cost_usd"] == pytest.approx(meta["cost_usd"], abs=1e-5)
    vendor.reset()
    assert "has no page 99" in client.run("retry", "plain", "--user", "bob", "--pages", "99").err
    assert client.run("retry", "fell-back", "--user", "ada", "--json").code == 0
    (row,) = client.run("list", "--json", "--user", "ada").json["documents"]
    assert row["fallback_pages"] == 0, "the latest run speaks for the job"
    assert jobs("--fallback") == set()


def test_list_shows_what_running_documents_have_paid(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_hangs())
    vendor.behave(vendor_answers(), first=3)
    process = tool.start("process", mixed, "--json", "--job-id", "dear")
    vendor.wait_for_calls(5, timeout=60)
    (row,) = tool.run("list", "--json").json["documents"]
    assert row["status"] == "running"
    assert row["tokens"] == sum(vendor.billed()) > 0
    assert row["cost_usd"] > 0
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    (row,) = tool.run("list", "--json").json["documents"]
    assert row["cost_usd"] > 0, "also when its command is gone, from its history"


def test_list_does_not_wait_for_workers_that_are_not_there(
    tool: Tool, one_page: Path, tmp_path: Path
) -> None:
    with Cluster(tmp_path / "cluster") as cluster:
        tool = tool.also(TEMPORAL_ADDRESS=cluster.address, STORE_URL=str(tmp_path / "store"))
        assert tool.run("process", one_page, "--detach", "--job-id", "alone").code == 0
        listed = tool.run("list", "--json")
        (row,) = listed.json["documents"]
        assert (row["status"], row["tokens"], row["cost_usd"]) == ("running", None, None)
        assert listed.json["total"]["cost_usd"] is None
        assert listed.seconds < 10


async def test_a_long_document_is_one_row_with_its_own_start(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    long = pdfs.mixed_pdf(tmp_path / "long.pdf", 2, 30)
    vendor.behave(vendor_answers_late(0.1))
    # A suggestion to continue as new that comes soon makes short documents behave like long ones.
    with Cluster(
        tmp_path / "cluster", {"limit.historyCount.suggestContinueAsNew": "70"}
    ) as cluster:
        cluster.start_worker(tool)
        tool = tool.also(TEMPORAL_ADDRESS=cluster.address)
        ran = tool.process(long, "--job-id", "long")
        assert ran.code == 0, ran.err
        client = await connect(Settings(), cluster.address)
        runs = [run async for run in client.list_workflows("WorkflowType = 'DocumentWorkflow'")]
        assert len(runs) > 1, "it was continued"
        (row,) = tool.run("list", "--json").json["documents"]
        begun, continued = min(r.start_time for r in runs), max(r.start_time for r in runs)
        assert row["status"] == "completed"
        assert row["cost_usd"] == pytest.approx(ran.json["metadata"]["cost_usd"])
        assert abs(datetime.fromisoformat(row["started_at"]) - begun) < (continued - begun) / 2
        # Between the document's start and that of its last run.
        middle = begun + (continued - begun) * 3 / 4
        wanted = JobFilter(since_s=3600)
        for moment, found in ((middle, 0), (begun - timedelta(seconds=1), 1)):
            now = moment + timedelta(hours=1)
            listed = client.list_workflows(wanted.query(now))
            assert len(await rows_of(client, listed, wanted, now)) == found


def test_query_of_age_names_the_moment() -> None:
    now = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
    query = JobFilter(since_s=7200).query(now)
    assert "StartTime >= '2026-05-04T01:02:01.000000Z'" in query
    assert "ExecutionStatus != 'ContinuedAsNew'" in query


@pytest.mark.parametrize(
    "wanted", [JobFilter(status="odd"), JobFilter(user='o"hara'), JobFilter(user="o\\hara")]
)
def test_what_cannot_be_searched_for_is_refused(wanted: JobFilter) -> None:
    with pytest.raises(UsageError):
        check_filter(wanted)


@pytest.mark.parametrize("status", ["canceled", "cancelled"])
def test_how_to_find_cancelled_documents_is_said(status: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_filter(JobFilter(status=status))
    assert "--fallback" in refused.value.info.remedy


def test_list_adds_up_says_if_there_is_more_and_finds_owners_with_quotes(
    lone_tool: Tool, one_page: Path
) -> None:
    lone_tool.process(one_page, "--job-id", "first", "--user", "x'y")
    lone_tool.process(one_page, "--job-id", "second")
    lone_tool.run("process", one_page, "--job-id", "second", "--force")
    owned = lone_tool.run("list", "--user", "x'y", "--json").json
    assert [row["job_id"] for row in owned["documents"]] == ["first"]
    assert owned["total"] == {"documents": 1, "pages": 1, "tokens": 0, "cost_usd": 0.0}
    cut = lone_tool.run("list", "--limit", "1")
    assert len(cut.out.splitlines()) == 2, "the names and one document"
    assert cut.err == "1 document, 1 page: $0.0000 for 0 tokens\nmore exist: --limit 2\n"
    assert lone_tool.run("list", "--limit", "1", "--json").json["more"] is True
    assert lone_tool.run("list", "--limit", "2", "--json").json["more"] is False
    assert "3 runs of 2 documents, 3 pages: $" in lone_tool.run("list", "--runs").err


def test_unknown_prices_are_no_zero_in_the_total() -> None:
    started = "2026-05-04T03:02:01+00:00"
    known = JobRow("a", "completed", started, pages=3, tokens=500, cost_usd=0.25)
    unknown = JobRow("b", "completed", started)
    assert total_of([known, known]).cost_usd == 0.5
    assert total_of([known, unknown]).cost_usd is None
    assert total_words([known, unknown]) == "2 documents, 3 pages: at least $0.2500 for 500 tokens"
    assert "price unknown" in total_words([unknown])


def test_brackets_and_colons_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    words = "pip install 'quire[ocr]' [/red] :smile:"
    screen().print(words)
    assert capsys.readouterr().out == words + "\n"


def test_long_documents_share_cells_and_show_the_worst() -> None:
    assert grid("maof", 40).plain == "■■■■"
    crowded = grid("a" * 999 + "f" + "a" * 1000, 10)
    assert len(crowded.plain) <= 80
    assert [str(span.style) for span in crowded.spans].count("yellow") == 1


def test_time_left_follows_the_pace_and_ends_at_the_deadline() -> None:
    detail = ProgressDetail(pages_by_source={"mupdf": 50, "ai": 4}, waiting=6, in_flight=2)
    status = DocumentStatus(job_id="j", status="running", progress_detail=detail)
    assert seconds_left(status, gone=10, allowed=180) == 20
    assert seconds_left(status, gone=10, allowed=18) == 8
    nothing = status.model_copy(update={"progress_detail": ProgressDetail()})
    assert seconds_left(nothing, gone=10, allowed=18) is None
