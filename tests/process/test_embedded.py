"""What stays true however often and however roughly the tool is used."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quire.contracts.names import workflow_id
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.embedded import EmbeddedServer, find_binary
from testing import pdfs
from testing.embedded import server_of
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_hangs
from testing.vendor.standin import StandIn
from testing.wait import wait_until


async def test_history_is_short_and_holds_no_page(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(0.1))
    document = pdfs.mixed_pdf(tmp_path / "long.pdf", 0, 200)
    ran = tool.process(document, "--job-id", "long")
    assert ran.sources() == {"ai": 200}
    server = EmbeddedServer(tool.state)
    try:
        client = await connect(Settings(), (await server.start()).address)
        history = await client.get_workflow_handle(workflow_id("long")).fetch_history()
    finally:
        server.leave()
    whole = b"".join(event.SerializeToString() for event in history.events)
    assert len(history.events) / 200 <= 6
    assert len(whole) / 200 <= 1024
    assert b"harbour master" not in whole, "no page text"
    assert b"Read by" not in whole, "no answer"
    assert b"\xff\xd8\xff" not in whole, "no image"
    assert b"/9j/" not in whole, "nor one in base64"


@pytest.mark.long
def test_many_runs_all_exit_with_0(lone_tool: Tool, one_page: Path) -> None:
    """The SDK crashes one in eight interpreters that shut down; the tool must not let it."""
    tool = lone_tool.cold()
    codes = [tool.process(one_page).code for _ in range(10)]
    assert codes == [0] * 10


def test_document_survives_the_death_of_its_command(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_hangs())
    vendor.behave(vendor_answers_late(0), first=3)
    process = tool.start("process", mixed, "--json", "--job-id", "orphan")
    vendor.wait_for_calls(5, timeout=60)
    read_before = 3
    # An answer that is not yet stored when its command dies has to be bought again.
    wait_until(lambda: len([*(tool.state / "store/answers").rglob("*.json")]) == read_before)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    vendor.reset()
    ran = tool.process(mixed, "--job-id", "orphan")
    assert ran.sources() == {"mupdf": 4, "ai": 8}
    assert len(vendor.calls()) == 8 - read_before, "what was stored is not bought again"


def test_document_survives_the_death_of_the_server(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_answers_late(1.0))
    process = tool.start("process", mixed, "--json")
    vendor.wait_for_calls(3, timeout=60)
    os.kill(server_of(tool).pid, signal.SIGKILL)
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert len(json.loads(out)["pages"]) == 12
    assert json.loads(out)["metadata"]["ai_pages_succeeded"] == 8
    assert len(vendor.calls()) == 8


def test_two_commands_share_a_server_and_the_last_one_stops_it(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(30))
    long = tool.start("process", pdfs.mixed_pdf(tmp_path / "l.pdf", 0, 40), "--json")
    vendor.wait_for_calls(1, timeout=60)
    pid = server_of(tool).pid
    short = tool.process(pdfs.text_pdf(tmp_path / "s.pdf"))
    assert short.code == 0
    assert server_of(tool).pid == pid, "it is still needed"
    assert long.poll() is None
    vendor.release()
    _, err = long.communicate(timeout=90)
    assert long.returncode == 0, err
    time.sleep(0.2)
    assert not (tool.state / "server.json").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_state_folder_of_an_older_version_still_works(lone_tool: Tool, one_page: Path) -> None:
    """Its database knows none of the search attributes that came later."""
    lone_tool.state.mkdir()
    database = lone_tool.state / "temporal.db"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    serve = (find_binary(), "server", "start-dev", "--headless", "--port", port)
    old = subprocess.Popen(
        [*serve, "--db-filename", str(database)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while not (database.exists() and database.stat().st_size > 100_000 and listens(port)):
        assert time.monotonic() < end, "the old server makes its tables"
        time.sleep(0.1)
    old.kill()
    old.wait()
    ran = lone_tool.run("process", one_page, "--json", timeout=40.0)
    assert ran.code == 0, ran.err


def listens(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


def test_finished_job_gives_its_result_again(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    first = tool.process(mixed, "--job-id", "done")
    calls = len(vendor.calls())
    again = tool.process(mixed, "--job-id", "done")
    assert again.json == first.json
    assert len(vendor.calls()) == calls
    assert tool.run("result", "done", "--json").json == first.json
    status = tool.run("status", "done", "--json").json
    assert status["status"] == "completed"
    assert status["completed_items"] == status["total_items"] == 12
    assert status["error_message"] is None
    listed = tool.run("list", "--json").json["documents"]
    assert [row["job_id"] for row in listed] == ["done"]


def test_result_outlives_its_history(lone_tool: Tool, one_page: Path, tmp_path: Path) -> None:
    first = lone_tool.process(one_page, "--job-id", "old")
    for part in lone_tool.state.glob("temporal.db*"):
        part.unlink()
    ran = lone_tool.run("result", "old", "--json", "--out", tmp_path / "copy")
    assert ran.code == 0, ran.err
    assert ran.json["pages"] == first.pages
    assert ran.text() == first.text() == (tmp_path / "copy" / "text.txt").read_text()
    assert ran.err == "job old: its history is gone; this is its stored result\n"
    for never in ("new", "../results/old"):
        unknown = lone_tool.run("result", never, "--json")
        assert unknown.code == 4
        assert unknown.json["error"]["reason"] == "NO_SUCH_JOB"


def test_status_of_a_failed_job_says_why(lone_tool: Tool, tmp_path: Path) -> None:
    locked = pdfs.locked_pdf(tmp_path / "locked.pdf", "secret")
    assert lone_tool.process(locked, "--job-id", "shut").code == 3
    status = lone_tool.run("status", "shut", "--json").json
    assert status["status"] == "failed"
    assert "PASSWORD_MISSING" in status["error_message"]
    assert status["completed_at"]
    assert lone_tool.run("result", "shut", "--json").code == 3


def test_detached_job_goes_on_by_itself(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    ran = tool.run("process", mixed, "--detach", "--json")
    assert ran.code == 0, ran.err
    job = ran.json["job_id"]
    done = tool.run("watch", job, "--json", timeout=90)
    assert done.code == 0, done.err
    assert done.sources() == {"mupdf": 4, "ai": 8}


def test_standard_output_holds_only_json(tool: Tool, mixed: Path) -> None:
    ran = tool.process(mixed, LOG_LEVEL="debug")
    assert ran.json["status"] == "success"


def test_for_a_person_the_pages_and_the_path_are_printed(tool: Tool, mixed: Path) -> None:
    ran = tool.run("process", mixed)
    assert ran.code == 0
    assert "HAS_GRAPHICS" in ran.out
    assert ran.out.strip().splitlines()[-1].startswith("text: /")


def test_doctor_says_what_to_do(lone_tool: Tool, vendor: StandIn) -> None:
    well = lone_tool.run("doctor", "--json")
    assert well.code == 0, well.out
    assert well.json["ok"] is True
    sick = lone_tool.run("doctor", "--json", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert sick.code == 2
    failed = [check for check in sick.json["checks"] if check["ok"] is False]
    assert [check["name"] for check in failed] == ["openai"]
    assert "OPENAI_BASE_URL" in failed[0]["remedy"]


def test_worker_serves_a_cluster_and_stops_in_order(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    """A server that someone else runs, one worker, and the tool as a mere client."""
    worker = start_worker(tool)
    try:
        wait_until_started(worker)
        address = server_of(tool).address
        client = Tool(tmp_path / "client", STORE_URL=str(tool.state / "store"))
        ran = client.process(
            mixed,
            TEMPORAL_ADDRESS=address,
            RESULTS_URL=str(tool.state / "results"),
        )
        assert ran.code == 0, ran.err
        assert ran.sources() == {"mupdf": 4, "ai": 8}
    finally:
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=30)
    assert worker.returncode == 0, err
    assert "worker_stopped" in err


def start_worker(tool: Tool) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "worker.py")],
        env=tool.environment({}),
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until_started(worker: subprocess.Popen[str]) -> None:
    assert worker.stderr is not None
    for line in worker.stderr:
        if "worker_started" in line:
            return
    raise AssertionError("the worker ended before it started")
