"""What goes to standard output, what comes from standard input, and how jobs are named."""

import json
import os
import pty
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from quire.cli.job_table import show_rows
from quire.cli.progress_view import route_line
from quire.contracts.status import BreakerStatus
from quire.jobs.list_jobs import JobRow
from testing.tool import Tool
from testing.vendor.behaviours import vendor_hangs, vendor_rate_limits, vendor_rejects_page
from testing.vendor.standin import StandIn
from tests.cli.programs import ROOT, run

STARTER = (sys.executable, ROOT / "starter.py")


def stored_text(tool: Tool, job: str) -> str:
    report = tool.run("result", job, "--json").json
    return Path(report["metadata"]["result_local_path"]).read_text(encoding="utf-8")


def test_a_document_by_standard_input(shared_tool: Tool, own_mixed: Path) -> None:
    """In a pipe, from bytes to text: nothing but the text is on standard output."""
    data = own_mixed.read_bytes()
    ran = run(*STARTER, "process", "-", "--text", "--job-id", "piped", data=data, tool=shared_tool)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.decode() == stored_text(shared_tool, "piped")
    assert ran.stdout.startswith(b"=== Page 1 ===\n")
    said = ran.stderr.decode()
    assert "job piped (workflow document-piped)" in said
    assert "12 pages in" in said, "the report"
    again = run(*STARTER, "process", "-", "--json", data=data, tool=shared_tool)
    assert json.loads(again.stdout)["source"] == "stdin"
    assert json.loads(again.stdout)["cached"] is True, "stored by its hash"


def test_standard_input_without_a_server_elsewhere(tool: Tool, own_mixed: Path) -> None:
    ran = run(*STARTER, "process", "-", "--json", data=own_mixed.read_bytes(), tool=tool)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["metadata"]["total_pages"] == 12


def test_an_image_and_an_estimate_by_standard_input(lone_tool: Tool, tmp_path: Path) -> None:
    Image.new("RGB", (200, 100), "white").save(tmp_path / "a.png")
    data = (tmp_path / "a.png").read_bytes()
    ran = run(*STARTER, "estimate", "-", "--json", data=data, tool=lone_tool)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["source"], found["total_pages"]) == ("stdin", 1)
    assert not lone_tool.state.exists(), "no server, no store"


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [(b"", "NOT_PDF", "EMPTY"), (b"plain words", "NOT_PDF", "NOT_PDF")],
)
def test_standard_input_that_is_no_document(
    lone_tool: Tool, data: bytes, code: str, reason: str
) -> None:
    for command in ("process", "estimate"):
        ran = run(*STARTER, command, "-", "--json", data=data, tool=lone_tool)
        assert ran.returncode == 3
        error = json.loads(ran.stdout)["error"]
        assert (error["code"], error["reason"]) == (code, reason)
        assert "'stdin'" in error["message"]


def test_too_large_an_input_is_not_read_to_its_end(lone_tool: Tool) -> None:
    """An endless input is refused when the limit is passed."""
    with subprocess.Popen(["yes", "%PDF-1.4"], stdout=subprocess.PIPE) as endless:
        ran = subprocess.run(
            [*map(str, STARTER), "process", "-", "--json"],
            stdin=endless.stdout,
            env=lone_tool.environment({"MAX_FILE_SIZE": "1MB"}),
            capture_output=True,
            timeout=60,
        )
        endless.kill()
    assert ran.returncode == 3, ran.stderr
    assert json.loads(ran.stdout)["error"]["code"] == "TOO_LARGE"


def test_a_terminal_is_no_document(lone_tool: Tool, one_page: Path) -> None:
    ours, terminal = pty.openpty()
    try:
        ran = subprocess.run(
            [*map(str, STARTER), "process", "-"],
            stdin=terminal,
            env=lone_tool.environment({}),
            capture_output=True,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(terminal)
    assert ran.returncode == 2
    assert b"Standard input is a terminal" in ran.stderr
    assert b"`starter.py process - < document.pdf`" in ran.stderr
    for wrong in (("-", one_page), ("-", "--password-file", "-")):
        assert run(*STARTER, "process", *wrong, tool=lone_tool).returncode == 2


def test_text_and_json_with_text(shared_tool: Tool, own_mixed: Path, tmp_path: Path) -> None:
    tool = shared_tool
    arguments = ("--text", "--job-id", "words", "--strict", "--out", tmp_path / "out")
    ran = tool.run("process", own_mixed, *arguments)
    assert ran.code == 0, ran.err
    whole = stored_text(tool, "words")
    assert ran.out == whole == (tmp_path / "out" / "text.txt").read_text(encoding="utf-8")
    assert tool.run("result", "words", "--text").out == whole
    body = tool.run("result", "words", "--json", "--with-text").json
    assert body["text"] == whole
    pages = {page["page"]: page["text"] for page in body["pages"]}
    assert list(pages) == list(range(1, 13))
    assert all(pages.values())
    rebuilt = "\n".join(f"=== Page {n} ===\n{text}\n" for n, text in pages.items())
    assert rebuilt == whole
    plain = tool.run("result", "words", "--json").json
    assert "text" not in plain
    assert "text" not in plain["pages"][0]
    again = tool.process(own_mixed, "--with-text")
    assert again.json["text"] == whole
    for wrong in (("--text", "--json"), ("--with-text",), ("--text", "--detach")):
        refused = tool.run("process", own_mixed, *wrong)
        assert refused.code == 2, wrong


def test_detached_job_names_its_workflow(shared_tool: Tool, own_mixed: Path) -> None:
    ran = shared_tool.run("process", own_mixed, "--detach", "--json", "--job-id", "named")
    assert ran.json == {"job_id": "named", "workflow_id": "document-named", "status": "pending"}
    assert "job named (workflow document-named); follow it with: starter.py watch named" in ran.err
    assert shared_tool.run("watch", "named", "--json").code == 0


def test_one_page_is_one_page(tool: Tool, vendor: StandIn, one_page: Path, mixed: Path) -> None:
    ran = tool.run("process", one_page, "--job-id", "one")
    assert "1 page in" in ran.out
    status = tool.run("status", "one").out
    assert "1/1 page (100%)" in status
    vendor.behave(vendor_rejects_page(), marker="page 7 of")
    assert tool.process(mixed, "--job-id", "seven").code == 0
    assert "1 page degraded with" in tool.run("status", "seven").out
    vendor.reset()
    assert "reading again page 7\n" in tool.run("retry", "seven").err


def test_list_shows_the_files_names(shared_tool: Tool, own_mixed: Path, tmp_path: Path) -> None:
    odd = tmp_path / "Résumé of\tAda.pdf"
    odd.write_bytes(own_mixed.read_bytes())
    owner = ("--user", "names")
    assert shared_tool.process(odd, "--job-id", "odd-name", *owner).code == 0
    (row,) = shared_tool.run("list", "--json", *owner).json["documents"]
    assert row["source_name"] == odd.name
    head, line = shared_tool.run("list", *owner).out.splitlines()
    assert head.split("\t")[-1] == "source_name"
    assert line.split("\t")[-1] == "Résumé of?Ada.pdf", "one line, and as many columns"
    assert len(line.split("\t")) == len(head.split("\t"))


def test_a_document_of_an_older_version_has_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC)
    show_rows([JobRow("old", "completed", now.isoformat())], now)
    assert capsys.readouterr().out.splitlines()[1].endswith("\t-")


def test_rest_that_another_document_brought_says_so() -> None:
    since = datetime(2026, 3, 1, 10, 2, tzinfo=UTC)
    line = route_line(
        BreakerStatus(
            key="openai",
            state="open",
            retry_at=datetime.now(UTC).isoformat(),
            reason="SERVER",
            learned_since=since.isoformat(),
        )
    )
    at = since.astimezone().strftime("%H:%M")
    assert f"(SERVER since {at}, learned from another document)" in line.plain


def test_status_says_how_far_and_when_pages_are_tried(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    """Every vendor rests; the pages wait for them, and say until when."""
    vendor.behave(vendor_rate_limits(60))
    began = datetime.now(UTC)
    held = tool.also(DISPATCH_MODE="hold")
    process = held.start("process", mixed, "--json", "--job-id", "held", "--deadline", "30m")
    try:
        pages: dict[int, Any] = {}
        while not any(page["retry_after"] for page in pages.values()):
            found = held.run("status", "held", "--json", "--with-pages").json
            pages = {page["page"]: page for page in found.get("pages", [])}
            assert (datetime.now(UTC) - began).total_seconds() < 60
        assert (found["status"], found["progress"]) == ("running", 33.3)
        assert pages[1]["last_attempt_at"] is pages[1]["retry_after"] is None
        tried = [page for page in pages.values() if page["attempts"]]
        assert tried
        for page in tried:
            assert began < datetime.fromisoformat(page["last_attempt_at"]) < datetime.now(UTC)
        waits = [page for page in pages.values() if page["retry_after"]]
        assert all(datetime.fromisoformat(page["retry_after"]) > began for page in waits)
        shown = held.run("status", "held", "--with-pages").out
        assert "4/12 pages (33%)" in shown
        assert "next try" in shown
        assert re.search(r"● openai:gpt-\S+ 0 in flight rests \d+ s \(RATE\)", shown)
        vendor.reset()
        vendor.behave(vendor_hangs())
    finally:
        process.kill()
        process.wait()
    assert held.run("cancel", "held", "--json").code == 0
    assert held.run("status", "held", "--json").json["progress"] == 100.0
