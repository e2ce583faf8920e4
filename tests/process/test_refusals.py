"""What a person does wrong: one clear line with the code and what to do, the right exit code."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from quire.cli.output import Answer
from quire.domain import errors
from testing import pdfs
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_hangs
from testing.vendor.standin import StandIn


def refused(ran: Ran, exit_code: int, code: str, reason: str) -> None:
    assert ran.code == exit_code, ran.err
    lines = ran.err.strip().splitlines()
    assert lines[-1].startswith(f"{code} ({reason}): "), ran.err
    assert "Traceback" not in ran.err
    error = ran.json["error"]
    assert (error["code"], error["reason"]) == (code, reason)
    assert error["remedy"]
    assert error["error_type"] in ("retryable", "terminal")


def test_wrong_path(lone_tool: Tool, tmp_path: Path) -> None:
    refused(lone_tool.process(tmp_path / "nowhere.pdf"), 3, "IO_ERROR", "NOT_FOUND")


def test_folder(lone_tool: Tool, tmp_path: Path) -> None:
    refused(lone_tool.process(tmp_path), 3, "NOT_PDF", "NO_IMAGES")


def test_empty_file(lone_tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").touch()
    refused(lone_tool.process(tmp_path / "empty.pdf"), 3, "NOT_PDF", "EMPTY")


def test_text_named_pdf(lone_tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "note.pdf").write_text("just words")
    refused(lone_tool.process(tmp_path / "note.pdf"), 3, "NOT_PDF", "NOT_PDF")


def test_header_and_nothing_else(lone_tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "header.pdf").write_bytes(b"%PDF-1.7\n" + b"\0" * 500)
    ran = lone_tool.process(tmp_path / "header.pdf")
    assert ran.code == 3
    assert ran.json["error"]["code"] == "NOT_PDF"


def test_locked_file(lone_tool: Tool, tmp_path: Path) -> None:
    locked = pdfs.locked_pdf(tmp_path / "locked.pdf", "secret")
    refused(lone_tool.process(locked), 3, "IO_ERROR", "PASSWORD_MISSING")


def test_too_large(lone_tool: Tool, one_page: Path) -> None:
    refused(lone_tool.process(one_page, MAX_FILE_SIZE="100B"), 3, "TOO_LARGE", "BYTES")


def test_too_many_pages(lone_tool: Tool, tmp_path: Path) -> None:
    three = pdfs.text_pdf(tmp_path / "three.pdf", 3)
    refused(lone_tool.process(three, MAX_PAGES="2"), 3, "TOO_LARGE", "PAGES")


def test_pages_that_do_not_exist(lone_tool: Tool, one_page: Path) -> None:
    refused(lone_tool.process(one_page, "--pages", "7-9"), 3, "UNKNOWN", "PAGES")


def test_missing_key_for_the_chosen_engine(lone_tool: Tool, one_page: Path) -> None:
    ran = lone_tool.process(one_page, "--engine", "openai")
    refused(ran, 2, "GW_4XX", "AUTH")
    assert "OPENAI_API_KEY" in ran.err


def test_impossible_setting(lone_tool: Tool, one_page: Path) -> None:
    ran = lone_tool.process(one_page, REQUEST_TIMEOUT="soon")
    refused(ran, 2, "UNKNOWN", "SETTING")
    assert "REQUEST_TIMEOUT" in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--pages", "five"),
        ("--deadline", "soon"),
        ("--tier", "best"),
        ("--job-id", "../../etc"),
        ("--unknown",),
    ],
    ids=lambda words: words[0],
)
def test_wrong_usage(lone_tool: Tool, one_page: Path, arguments: tuple[str, ...]) -> None:
    ran = lone_tool.process(one_page, *arguments)
    refused(ran, 2, "UNKNOWN", "USAGE")


def test_folder_for_the_result_is_a_file(lone_tool: Tool, one_page: Path) -> None:
    ran = lone_tool.process(one_page, "--out", one_page / "below")
    refused(ran, 2, "UNKNOWN", "USAGE")
    assert not lone_tool.state.exists(), "nothing was begun"


def test_unusable_state_folder(lone_tool: Tool, one_page: Path) -> None:
    ran = lone_tool.process(one_page, STATE_DIR=str(one_page))
    refused(ran, 1, "IO_ERROR", "STORAGE")
    assert str(one_page) in ran.err


def test_unknown_job(lone_tool: Tool) -> None:
    for command in ("status", "result", "watch", "retry", "cancel"):
        ran = lone_tool.run(command, "no-such-job", "--json")
        refused(ran, 4, "EXPIRED", "NO_SUCH_JOB")
        assert ran.json["job_id"] == "no-such-job"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_job_is_kept_and_goes_on(
    tool: Tool, vendor: StandIn, mixed: Path, sent: signal.Signals
) -> None:
    vendor.behave(vendor_hangs())
    process = tool.start("process", mixed, "--json", "--job-id", "kept")
    vendor.wait_for_calls(2, timeout=60)
    # A terminal sends its signals to the command and all that it has started in its group.
    send = os.kill if sent is signal.SIGTERM else os.killpg
    send(process.pid, sent)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert err.splitlines()[-1].startswith("Interrupted. The job is kept")
    assert "Traceback" not in err
    answer = json.loads(out)
    assert (answer["job_id"], answer["status"]) == ("kept", "interrupted")
    assert answer["error"]["reason"] == "INTERRUPTED"
    vendor.reset()
    ran = tool.process(mixed, "--job-id", "kept")
    assert ran.code == 0, ran.err
    assert ran.sources() == {"mupdf": 4, "ai": 8}


def test_who_has_answered_adds_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    """As when Ctrl-C comes while a command that is done closes its connection."""
    answer = Answer(job_id="done")
    answer.print_json({"job_id": "done"})
    answer.print_error(errors.interrupted().info)
    assert json.loads(capsys.readouterr().out) == {"job_id": "done"}


def test_no_server_is_left_behind(lone_tool: Tool, one_page: Path) -> None:
    # From nothing: the command is then found by its arguments, as the server is.
    lone_tool.cold().process(one_page)
    time.sleep(0.2)
    running = [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if str(lone_tool.state).encode() in _read(path)
    ]
    assert running == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
