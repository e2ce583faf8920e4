"""Batches: many documents as one job, whatever they are and whatever happens meanwhile."""

import asyncio
import csv
import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from quire.contracts.batch_steps import BatchRun
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.cluster import SOON_CONTINUED, Cluster
from testing.s3 import BUCKET, S3Server
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers, vendor_answers_late, vendor_fails
from testing.vendor.standin import StandIn


def folder_of(folder: Path, count: int, *, vision: int = 0, first: int = 0) -> Path:
    """So many documents of a page of text and so many that need a model, no two the same."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = pdfs.mixed_pdf(folder / "one", 1, vision) if vision else pdfs.text_pdf(folder / "one")
    content = whole.read_bytes()
    whole.unlink()
    for number in range(first, first + count):
        # Different bytes; the names sort as people sort them.
        (folder / f"doc_{number}.pdf").write_bytes(content + f"\n% {folder} {number}\n".encode())
    return folder


def rows_of(ran: Ran) -> list[dict[str, Any]]:
    lines = Path(ran.json["documents_path"]).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def until(tool: Tool, batch_id: str, wanted: Any, seconds: float = 60.0) -> dict[str, Any]:
    """The first status for which `wanted` holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ran = tool.run("batch", "status", batch_id, "--json")
        if ran.code == 0 and wanted(ran.json):
            status: dict[str, Any] = ran.json
            return status
        time.sleep(0.1)
    raise AssertionError(f"it never came to be: {ran.out} {ran.err}")


def ended(status: dict[str, Any]) -> int:
    return int(status["completed_items"] + status["failed_items"])


def test_every_source_is_one_row(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", 3, vision=2)
    below = folder / "below"
    below.mkdir()
    (below / "copy.pdf").write_bytes((folder / "doc_1.pdf").read_bytes())
    (below / "empty.pdf").write_bytes(b"")
    (below / "words.pdf").write_text("no PDF")
    (below / "notes.txt").write_text("not asked for")
    (below / "link.pdf").symlink_to(folder / "doc_0.pdf")
    gone = tmp_path / "gone.pdf"
    out = tmp_path / "out"
    ran = tool.run("batch", "start", folder, gone, "--batch-id", "b", "--json", "--out", out)
    assert ran.code == 3, ran.err
    rows = rows_of(ran)
    assert [Path(row["source"]).name for row in rows] == [
        "copy.pdf", "empty.pdf", "words.pdf", "doc_0.pdf", "doc_1.pdf", "doc_2.pdf", "gone.pdf",
    ]  # fmt: skip
    assert [row["number"] for row in rows] == list(range(1, 8))
    statuses = [row["status"] for row in rows]
    assert statuses == ["done", "failed", "failed", "done", "done", "done", "failed"]
    assert [row["code"] for row in rows if row["code"]] == ["NOT_PDF", "NOT_PDF", "IO_ERROR"]
    assert all(row["remedy"] for row in rows if row["code"])
    # The same bytes are read once, and reported twice.
    assert (rows[4]["same_as"], rows[4]["cost_usd"]) == (1, 0.0)
    assert len(vendor.calls()) == 3 * 2
    assert rows[0]["pages_by_source"] == {"ai": 2, "mupdf": 1}
    assert "symbolic link" in ran.err
    assert ran.json["counts"]["done"] == 4
    folders = sorted(path.name for path in out.iterdir() if path.is_dir())
    assert folders == ["00001-copy", "00004-doc_0", "00005-doc_1", "00006-doc_2"]
    assert (out / "00005-doc_1" / "text.txt").read_text() == Path(rows[0]["text_path"]).read_text()
    with duckdb.connect() as database:
        table = database.read_parquet(ran.json["parquet_path"])
        found = table.select("number, status, pages_ai, pages_mupdf").fetchall()
    assert found[0] == (1, "done", 2, 1)
    assert len(found) == 7


def test_what_is_killed_goes_on_and_nothing_is_paid_twice(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    count, vision = 12, 2
    folder = folder_of(tmp_path / "in", count, vision=vision)
    vendor.behave(vendor_answers_late(0.15))
    running = tool.start("batch", "start", folder, "--batch-id", "b", "--json")
    kills = 0
    for calls in (3, 9, 15):
        while len(vendor.calls()) < calls and running.poll() is None:
            time.sleep(0.02)
        running.kill()
        running.wait()
        kills += 1
        running = tool.start("batch", "watch", "b", "--json")
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    result = json.loads(out)
    rows = [json.loads(line) for line in Path(result["documents_path"]).read_text().splitlines()]
    assert [row["number"] for row in rows] == list(range(1, count + 1))
    assert {row["status"] for row in rows} == {"done"}
    # Only what was in flight at a kill is asked for again: four slots.
    assert len(vendor.calls()) <= count * vision + kills * 4


def test_pause_and_resume(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", 14, vision=1)
    vendor.behave(vendor_answers_late(0.5))
    running = tool.start("batch", "start", folder, "--batch-id", "b", "--window", "2", "--json")
    until(tool, "b", lambda status: ended(status) >= 1)
    assert tool.run("batch", "pause", "b").code == 0
    still = until(tool, "b", lambda s: s["progress_detail"]["counts"]["running"] == 0)
    assert still["progress_detail"]["paused"]
    assert still["progress_detail"]["counts"]["waiting"] > 0
    time.sleep(1.5)
    calls = len(vendor.calls())
    after = until(tool, "b", lambda _: True)
    assert (ended(after), len(vendor.calls())) == (ended(still), calls)
    partial = tool.run("batch", "result", "b", "--partial", "--json")
    assert partial.json["counts"]["done"] == ended(still)
    assert tool.run("batch", "result", "b").code == 4
    assert tool.run("batch", "resume", "b", "--user", "eve").code == 4
    assert tool.run("batch", "resume", "b").code == 0
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert json.loads(out)["counts"]["done"] == 14


def test_retry_redoes_only_what_is_not_good(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", 4, vision=2)
    vendor.behave(vendor_fails(503))
    vendor.behave(vendor_answers(), first=3)
    began = tool.run("batch", "start", folder, "--batch-id", "b", "--mode", "fail_fast", "--json")
    assert began.code == 0, began.err
    before = began.json["counts"]
    assert before["degraded"] > 0
    strict = tool.run("batch", "result", "b", "--strict")
    assert strict.code == 5
    vendor.reset()
    again = tool.run("batch", "retry", "b", "--json")
    assert again.code == 0, again.err
    assert again.json["counts"]["done"] == 4
    assert len(vendor.calls()) == 4 * 2 - 3
    rows = rows_of(again)
    assert [row["number"] for row in rows] == [1, 2, 3, 4]
    assert {row["take"] for row in rows} <= {0, 1}
    assert tool.run("batch", "retry", "b").code == 4, "all is good"


def test_the_spend_limit_starts_nothing_more(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", 8, vision=1)
    started = ("batch", "start", folder, "--batch-id", "b", "--window", "2", "--json")
    ran = tool.run(*started, "--max-cost", "0.000001")
    assert ran.code == 3, ran.err
    counts = ran.json["counts"]
    assert 1 <= counts["done"] <= 3
    assert counts["not_started"] == 8 - counts["done"]
    left = [row for row in rows_of(ran) if row["status"] == "not_started"]
    assert {(row["code"], row["reason"]) for row in left} == {("GW_4XX", "BUDGET")}
    paid = len(vendor.calls())
    more = tool.run("batch", "retry", "b", "--max-cost", "100", "--json")
    assert more.code == 0, more.err
    assert more.json["counts"]["done"] == 8
    assert len(vendor.calls()) == paid + counts["not_started"]


def test_cancel_keeps_what_is_done(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", 40, vision=1)
    vendor.behave(vendor_answers_late(0.5))
    running = tool.start("batch", "start", folder, "--batch-id", "b", "--window", "2", "--json")
    until(tool, "b", lambda status: ended(status) >= 1)
    assert tool.run("batch", "cancel", "b").code == 0
    out, err = running.communicate(timeout=60)
    assert running.returncode == 3, err
    result = json.loads(out)
    counts = result["counts"]
    assert result["cancelled"]
    assert counts["done"] >= 1
    assert counts["not_started"] >= 1
    assert sum(counts.values()) == 40
    assert tool.run("batch", "cancel", "b").code == 4


def test_a_manifest_has_options_for_each_row(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", 2, vision=2)
    locked = pdfs.locked_pdf(folder / "locked.pdf", "open sesame")
    (tmp_path / "secret").write_text("open sesame\n")
    rows = [
        {"source": "in/doc_0.pdf", "pages": "1", "value": "900", "job_id": "mine"},
        {"source": str(locked), "password_file": "secret"},
        {"source": str(locked)},
        {"source": "in/doc_1.pdf", "pages": "one"},
        {"source": "in/nothing.pdf"},
        {"source": "in/doc_1.pdf", "job_id": "mine"},
        {"source": "in/doc_0.pdf", "pages": "1", "job_id": "other"},
    ]
    manifest = tmp_path / "list.csv"
    with manifest.open("w", newline="") as file:
        names = ("source", "job_id", "password_file", "pages", "value")
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    ran = tool.run("batch", "start", manifest, "--batch-id", "b", "--json")
    assert ran.code == 3, ran.err
    found = rows_of(ran)
    assert [row["status"] for row in found] == [
        "done", "done", "failed", "failed", "failed", "failed", "done",
    ]  # fmt: skip
    assert [row["reason"] for row in found if row["reason"]] == [
        "PASSWORD_MISSING", "MANIFEST_ROW", "NOT_FOUND", "JOB_ID_TAKEN",
    ]  # fmt: skip
    assert (found[0]["job_id"], found[0]["value"], found[0]["pages"]) == ("mine", "900", 1)
    # The same document under its own id has a result of its own.
    assert found[6]["job_id"] == "other"
    assert Path(found[6]["text_path"]).parent.name == "other"
    lines = tmp_path / "list.jsonl"
    lines.write_text(json.dumps({"source": "in/doc_1.pdf"}) + "\n\n[]\n")
    again = tool.run("batch", "start", lines, "--batch-id", "c", "--json")
    assert [row["status"] for row in rows_of(again)] == ["done", "failed"]


def test_what_is_wrong_is_said_before_anything_starts(tool: Tool, tmp_path: Path) -> None:
    nothing = tool.run("batch", "start", tmp_path / "scnas", "--json")
    assert (nothing.code, nothing.json["error"]["code"]) == (3, "IO_ERROR")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert tool.run("batch", "start", empty).code == 3
    assert tool.run("batch", "status", "nobody", "--json").code == 4
    assert tool.run("batch", "start", empty, "--mode", "slowly").code == 2
    assert tool.run("batch", "start", empty, "--batch-id", "a/b").code == 2


@pytest.mark.parametrize("several", [True, False])
def test_process_says_how_to_read_several(tool: Tool, tmp_path: Path, several: bool) -> None:
    folder = folder_of(tmp_path / "in", 2)
    given = sorted(folder.iterdir()) if several else [folder]
    ran = tool.run("process", *given)
    assert ran.code == 3
    assert "batch start" in ran.err


def test_a_cluster_loses_server_and_worker_and_no_document(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """Short histories: the batch goes through several runs meanwhile."""
    count = 16
    folder = folder_of(tmp_path / "in", count, vision=1)
    vendor.behave(vendor_answers_late(0.3))
    with Cluster(tmp_path / "cluster", SOON_CONTINUED) as cluster:
        client = tool.also(TEMPORAL_ADDRESS=cluster.address)
        worker = cluster.start_worker(tool)
        start = ("batch", "start", folder, "--batch-id", "b", "--window", "3", "--user", "ana")
        assert client.run(*start, "--detach").code == 0
        vendor.wait_for_calls(4, timeout=60)
        worker.kill()
        worker.wait()
        cluster.start_worker(tool)
        vendor.wait_for_calls(8, timeout=60)
        cluster.kill_server()
        cluster.start_server()
        ran = client.run("batch", "watch", "b", "--json", timeout=150)
        assert ran.code == 0, ran.err
        rows = rows_of(ran)
        listed = client.run("list", "--batch", "b", "--limit", "50", "--json").json["documents"]
        batches = client.run("batch", "list", "--json").json["batches"]
    assert [row["number"] for row in rows] == list(range(1, count + 1))
    assert {row["status"] for row in rows} == {"done"}
    assert {row["job_id"] for row in listed} == {row["job_id"] for row in rows}
    assert {row["user_id"] for row in listed} == {"ana"}
    assert [(row["batch_id"], row["status"]) for row in batches] == [("b", "completed")]
    # Only what was under way when the worker died is asked for again: four slots.
    assert len(vendor.calls()) <= count + 4


def test_an_unsigned_batch_is_refused(tool: Tool, tmp_path: Path) -> None:
    """Its worker would sign for its documents, whatever they are."""

    async def start(address: str) -> None:
        client = await connect(Settings(), address)
        request = BatchRun(batch_id="b", documents=1)
        await client.execute_workflow("BatchWorkflow", request, id="batch-b", task_queue="quire")

    with Cluster(tmp_path / "cluster") as cluster:
        cluster.start_worker(tool, ACCEPT_UNSIGNED="true")
        with pytest.raises(WorkflowFailureError) as caught:
            asyncio.run(start(cluster.address))
    assert isinstance(caught.value.cause, ApplicationError)
    assert caught.value.cause.type == "FORBIDDEN"


def test_a_prefix_of_a_bucket(tool: Tool, vendor: StandIn, s3: S3Server, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", 3, vision=1)
    for path in folder.iterdir():
        s3.client().upload_file(str(path), BUCKET, f"many/{path.name}")
    s3.client().put_object(Bucket=BUCKET, Key="many/bad.pdf", Body=b"no PDF")
    s3.client().put_object(Bucket=BUCKET, Key="many/notes.txt", Body=b"not asked for")
    s3.client().copy({"Bucket": BUCKET, "Key": "many/doc_0.pdf"}, BUCKET, "many/sub/copy.pdf")
    tool = tool.also(**s3.settings)
    ran = tool.run("batch", "start", f"s3://{BUCKET}/many/", "--batch-id", "b", "--json")
    assert ran.code == 3, ran.err
    rows = rows_of(ran)
    names = [(row["source"].rpartition("/")[2], row["status"]) for row in rows]
    assert names == [
        ("bad.pdf", "failed"), ("doc_0.pdf", "done"), ("doc_1.pdf", "done"), ("doc_2.pdf", "done"),
        ("copy.pdf", "done"),
    ]  # fmt: skip
    assert rows[4]["same_as"] == 2
    assert len(vendor.calls()) == 3
    assert s3.read(rows[1]["text_path"])
    nothing = tool.run("batch", "start", f"s3://{BUCKET}/none/", "--json")
    assert (nothing.code, nothing.json["error"]["reason"]) == (3, "NOTHING_FOUND")
    no_bucket = tool.run("batch", "start", "s3://no-such-bucket/x/", "--json")
    assert no_bucket.code == 3


def test_a_single_document_of_another_owner_goes_first(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """On four slots that a batch keeps busy, and in the same embedded server."""
    vendor.behave(vendor_answers_late(0.4))
    alone_pdf = pdfs.mixed_pdf(tmp_path / "alone.pdf", 1, 12)
    beside_pdf = pdfs.mixed_pdf(tmp_path / "beside.pdf", 2, 12)
    folder = folder_of(tmp_path / "in", 60, vision=4)
    start = ("batch", "start", folder, "--batch-id", "b", "--user", "ana", "--json")
    running = tool.start(*start)
    until(tool, "b", lambda status: ended(status) >= 2)
    calls = len(vendor.calls())
    beside = tool.run("process", beside_pdf, "--user", "bob", "--json", "--deadline", "5m")
    assert beside.code == 0, beside.err
    during = len(vendor.calls()) - calls
    assert tool.run("batch", "cancel", "b", "--user", "ana").code == 0
    running.communicate(timeout=120)
    alone = tool.run("process", alone_pdf, "--user", "bob", "--json", "--deadline", "5m")
    assert beside.sources()["ai"] == alone.sources()["ai"] == 12
    took = [seconds_of(ran) for ran in (alone, beside)]
    assert took[1] <= 2 * took[0] + 1.0, f"alone and beside the batch: {took}, calls {during}"


def seconds_of(ran: Ran) -> float:
    times = [datetime.fromisoformat(ran.json[name]) for name in ("started_at", "completed_at")]
    return (times[1] - times[0]).total_seconds()
