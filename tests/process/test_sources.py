"""One document, whatever way it comes and wherever its result goes."""

import json
import os
import time
import urllib.request
from datetime import datetime
from pathlib import Path

import pytest

from testing import pdfs
from testing.s3 import BUCKET, S3Server
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn


def test_path_bucket_and_url_give_the_same_text(
    tool: Tool, vendor: StandIn, s3: S3Server, web: tuple[str, Path], mixed: Path
) -> None:
    s3.client().upload_file(str(mixed), BUCKET, "inbox/mixed.pdf")
    (web[1] / "mixed.pdf").write_bytes(mixed.read_bytes())
    tool.settings["WHEN_BUSY"] = "wait"  # one model, whose answers are the same each time
    by_path = tool.process(mixed, "--force")
    by_bucket = tool.also(**s3.settings).run(
        "process", f"s3://{BUCKET}/inbox/mixed.pdf", "--json", "--force", "--job-id", "b"
    )
    by_url = tool.run(
        "process", f"{web[0]}/mixed.pdf", "--json", "--force", ALLOW_PRIVATE_URLS="true"
    )
    assert (by_path.code, by_bucket.code, by_url.code) == (0, 0, 0), by_bucket.err + by_url.err
    assert len(vendor.calls()) == 24, "none of them was a stored result"
    where = by_bucket.json["metadata"]
    assert where["result_local_path"] is None
    assert where["result_s3_url"] == f"s3://{BUCKET}/inbox/mixed.pdf.quire/b/text.txt"
    text = s3.read(where["result_s3_url"])
    assert text == by_path.text().encode() == by_url.text().encode()
    report = json.loads(s3.read(where["result_s3_url"].replace("text.txt", "result.json")))
    assert report == by_bucket.json
    assert by_url.json["source"] == "mixed.pdf"
    link = tool.also(**s3.settings).run("result", "b", "--link", "--json").json["link"]
    with urllib.request.urlopen(link, timeout=10) as answer:
        assert answer.read() == text


def test_store_and_results_in_a_bucket(tool: Tool, s3: S3Server, mixed: Path) -> None:
    places = {"STORE_URL": f"s3://{BUCKET}/st", "RESULTS_URL": f"s3://{BUCKET}/out"}
    tool = tool.also(**places, **s3.settings)
    first = tool.process(mixed, "--job-id", "one")
    assert first.code == 0, first.err
    assert first.sources() == {"mupdf": 4, "ai": 8}
    assert first.json["metadata"]["result_s3_url"] == f"s3://{BUCKET}/out/one/text.txt"
    again = tool.process(mixed, "--job-id", "two")
    assert again.json["cached"] is True
    assert s3.read(again.json["metadata"]["result_s3_url"]) == s3.read(
        first.json["metadata"]["result_s3_url"]
    )
    assert tool.run("result", "two", "--json").json == again.json
    assert not (tool.state / "store").exists()
    for part in tool.state.glob("temporal.db*"):
        part.unlink()
    alone = tool.run("result", "two", "--link")
    assert "12 pages in" in alone.err
    assert len(alone.out.splitlines()) == 1
    with urllib.request.urlopen(alone.out.strip(), timeout=10) as answer:
        assert answer.read() == s3.read(again.json["metadata"]["result_s3_url"])
    assert tool.run("result", "two", "--link", "--text").code == 2
    link = tool.run("result", "two", "--link", "--json").json["link"]
    with urllib.request.urlopen(link, timeout=10) as answer:
        assert answer.read() == s3.read(again.json["metadata"]["result_s3_url"])


def test_private_url_is_refused_and_leaves_nothing(
    lone_tool: Tool, web: tuple[str, Path], one_page: Path, tmp_path: Path
) -> None:
    (web[1] / "a.pdf").write_bytes(one_page.read_bytes())
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    ran = lone_tool.run("process", f"{web[0]}/a.pdf", "--json", TMPDIR=str(scratch))
    assert ran.code == 3
    assert ran.json["error"]["reason"] == "PRIVATE_ADDRESS"
    assert [path for path in scratch.rglob("*") if path.is_file()] == []
    assert not (lone_tool.state / "store" / "sources").exists()


def test_missing_object_and_missing_bucket(lone_tool: Tool, s3: S3Server) -> None:
    lone_tool = lone_tool.also(**s3.settings)
    ran = lone_tool.run("process", f"s3://{BUCKET}/none.pdf", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (3, "EXPIRED")
    ran = lone_tool.run("process", "s3://no-such-bucket/none.pdf", "--json")
    assert (ran.code, ran.json["error"]["reason"]) == (3, "NO_BUCKET")


@pytest.mark.long
def test_document_outlives_an_outage_of_its_store(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(0.5))
    server = S3Server(tmp_path / "weed")
    server.start()
    try:
        running = tool.start(
            "process", mixed, "--json", STORE_URL=f"s3://{BUCKET}/st", **server.settings
        )
        vendor.wait_for_calls(3, timeout=60)
        server.stop()
        time.sleep(4)
        server.start()
        out, err = running.communicate(timeout=100)
    finally:
        server.stop()
    assert running.returncode == 0, err
    report = json.loads(out)
    assert report["metadata"]["pages_failed"] == 0, err
    assert report["metadata"]["ai_pages_succeeded"] == 8
    assert len(vendor.calls()) == 8, "an answer that could not be stored is not bought again"


def test_clean_removes_what_is_old(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    document = pdfs.mixed_pdf(tmp_path / "c.pdf", 1, 2)
    tool.process(document)
    store = tool.state / "store"
    before = [path for path in store.rglob("*") if path.is_file()]
    young = tool.run("clean", "--older-than", "30d", "--json").json
    assert young["objects"] == 0
    old = time.time() - 40 * 86400
    for path in before:
        os.utime(path, (old, old))
    dry = tool.run("clean", "--older-than", "30d", "--dry-run", "--json").json
    assert dry["objects"] == len(before)
    assert all(path.exists() for path in before)
    wet = tool.run("clean", "--older-than", "30d", "--json").json
    assert {**wet, "dry_run": True} == dry
    assert list(store.rglob("*")) == []
    assert tool.run("clean", "--older-than", "5m", "--json").code == 2
    again = tool.process(document)
    assert again.code == 0
    assert again.json["cached"] is False
    assert len(vendor.calls()) == 4


def test_done_once(shared_tool: Tool, shared_vendor: StandIn, tmp_path: Path) -> None:
    document = pdfs.mixed_pdf(tmp_path / "once.pdf", 1, 2)
    document.write_bytes(document.read_bytes() + f"\n% {tmp_path}\n".encode())
    first = shared_tool.process(document, "--user", "ann")
    renamed = tmp_path / "same bytes.pdf"
    renamed.write_bytes(document.read_bytes())
    second = shared_tool.process(renamed, "--user", "bob", "--job-id", "done-once")
    assert second.json["cached"] is True
    assert first.json["cached"] is False
    assert len(shared_vendor.calls()) == 2
    assert second.text() == first.text()
    assert second.json["job_id"] == "done-once"
    assert (second.json["source"], second.json["user_id"]) == ("same bytes.pdf", "bob")
    bill = {"usage", "cost_usd", "reused"}
    for one, two in zip(first.pages, second.pages, strict=True):
        assert {k: v for k, v in one.items() if k not in bill} == {
            k: v for k, v in two.items() if k not in bill
        }
    assert "done-once" in second.json["metadata"]["result_local_path"]
    started = datetime.fromisoformat(second.json["started_at"])
    took = datetime.fromisoformat(second.json["completed_at"]) - started
    assert took.total_seconds() < 2
    status = shared_tool.run("status", "done-once", "--json").json
    assert (status["status"], status["completed_items"]) == ("completed", 3)
    other = shared_tool.process(document, "--prompt", "Mind the numbers.", "--pages", "2")
    assert other.json["cached"] is False, "other options, other result"
    assert len(shared_vendor.calls()) == 3
    forced = shared_tool.process(document, "--force")
    assert forced.json["cached"] is False
    assert len(shared_vendor.calls()) == 5


def test_degraded_result_is_not_the_truth(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    document = pdfs.mixed_pdf(tmp_path / "d.pdf", 1, 2)
    sick = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    assert tool.process(document, **sick).sources() == {"mupdf": 1, "mupdf_fallback": 2}
    well = tool.process(document)
    assert well.json["cached"] is False
    assert well.sources() == {"mupdf": 1, "ai": 2}


def test_two_jobs_on_the_same_bytes_at_once(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_answers_late(0.3))
    both = [tool.start("process", mixed, "--json", "--job-id", name) for name in ("a", "b")]
    reports = []
    for running in both:
        out, err = running.communicate(timeout=90)
        assert running.returncode == 0, err
        reports.append(json.loads(out))
    for report in reports:
        assert report["metadata"]["ai_pages_succeeded"] == 8
        text = Path(report["metadata"]["result_local_path"]).read_text(encoding="utf-8")
        assert len(text) == report["metadata"]["result_text_len"]
        assert text.count("=== Page ") == 12
