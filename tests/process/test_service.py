"""One service for all commands of a state folder: shared, renewed, ended, and never in the way."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from testing import pdfs
from testing.cluster import children_of
from testing.service import notes_of, service_of, serviced
from testing.terminal import Terminal, alive
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_hangs
from testing.vendor.standin import StandIn
from testing.wait import wait_until

SOL = "gpt-6.1-sol"


def documents_of(folder: Path, count: int, text: int, pages: int) -> list[Path]:
    """Documents that have no bytes in common, so no answer serves two of them."""
    paths = [pdfs.mixed_pdf(folder / f"{n}.pdf", text, pages) for n in range(count)]
    for path in paths:
        path.write_bytes(path.read_bytes() + f"\n% {path}\n".encode())
    return paths


def none_alive(pids: list[int]) -> bool:
    return not any(map(alive, pids))


@pytest.fixture
def shared(tool: Tool) -> Iterator[Tool]:
    """The tool with a service."""
    with serviced(tool) as tool:
        yield tool


def test_ten_detached_documents_have_one_service_and_one_limit(
    shared: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(0.3))
    documents = documents_of(tmp_path, 10, 0, 3)
    starts = [shared.start("process", path, "--detach", "--json") for path in documents]
    said = [start.communicate(timeout=120) for start in starts]
    assert [start.returncode for start in starts] == [0] * 10, said
    jobs = [json.loads(out)["job_id"] for out, _ in said]
    pid = service_of(shared)["pid"]
    done = [shared.run("watch", job, "--json") for job in jobs]
    assert [one.code for one in done] == [0] * 10, [one.err for one in done]
    assert {page["source"] for one in done for page in one.pages} == {"ai"}
    models = {call.model for call in vendor.calls()}
    assert max(vendor.max_concurrent(model) for model in models) == 2
    assert service_of(shared)["pid"] == pid
    family = [pid, *children_of(pid)]
    assert len(family) <= 8, "and not four for each document"


def test_commands_find_the_service_wherever_and_by_whomever_it_was_started(
    shared: Tool, one_page: Path, tmp_path: Path
) -> None:
    """The first command's folder, temporary files and language go away with it."""
    place = tmp_path / "gone"
    (place / "tmp").mkdir(parents=True)
    shutil.copy(one_page, place / "here.pdf")
    first = shared.within("env", "-C", str(place))
    ran = first.run(
        "process", "here.pdf", "--out", "copy", "--json", TMPDIR=str(place / "tmp"), LC_ALL="C"
    )
    assert ran.code == 0, ran.err
    assert (place / "copy" / "text.txt").exists()
    shutil.rmtree(place)
    pid = service_of(shared)["pid"]
    assert Path(f"/proc/{pid}/cwd").resolve() == shared.state / "service"
    again = shared.process(one_page, "--force")
    assert again.code == 0, again.err
    assert service_of(shared)["pid"] == pid
    assert shared.run("status", ran.json["job_id"], "--json").json["status"] == "completed"
    assert len(shared.run("list", "--json").json["documents"]) == 2


def test_it_ends_when_idle_and_never_while_a_document_runs(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_answers_late(30))
    with serviced(tool, SERVICE_IDLE="1s") as tool:
        job = tool.run("process", mixed, "--detach", "--json").json["job_id"]
        note = service_of(tool)
        family = [note["pid"], note["server_pid"], *children_of(note["pid"])]
        assert len(family) >= 4
        vendor.wait_for_calls(2, timeout=60)
        with pytest.raises(AssertionError):
            wait_until(lambda: not notes_of(tool), timeout=4)
        vendor.release()
        wait_until(partial(none_alive, family), timeout=30)
        assert not notes_of(tool)
        assert [*(tool.state / "service").glob("seat-1.tmp/*")] == []
        assert tool.run("result", job, "--json").sources() == {"mupdf": 4, "ai": 8}


@pytest.mark.long
def test_kills_at_any_moment_lose_nothing(shared: Tool, vendor: StandIn, tmp_path: Path) -> None:
    """Commands that follow bring it back; what is left without one goes on with the next."""
    vendor.behave(vendor_answers_late(0.2))
    jobs = [
        shared.run("process", path, "--detach", "--json", "--deadline", "5m").json["job_id"]
        for path in documents_of(tmp_path, 6, 1, 6)
    ]
    follower = shared.start("watch", jobs[-1], "--json")
    for calls in (3, 9, 20):
        vendor.wait_for_calls(calls, timeout=60)
        note = service_of(shared)
        family = [note["server_pid"], *children_of(note["pid"])]
        os.kill(note["pid"], signal.SIGKILL)
        wait_until(partial(none_alive, family), timeout=10)
    out, err = follower.communicate(timeout=120)
    assert follower.returncode == 0, err
    assert len(json.loads(out)["pages"]) == 7
    for job in jobs:
        ran = shared.run("watch", job, "--json")
        assert ran.code == 0, ran.err
        assert ran.sources() == {"mupdf": 1, "ai": 6}
    stored = len([*(shared.state / "store/answers").rglob("*.json")])
    assert stored == 36
    answered = [call for call in vendor.calls() if call.status == 200 and not call.aborted]
    assert len(answered) <= stored + 3 * 4, "at most what was in flight is bought again"


def test_a_closed_terminal_and_ctrl_c_leave_the_document_to_it(
    shared: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_answers_late(30))
    command = [str(ROOT / "starter.py"), "process", str(mixed), "--job-id", "kept"]
    terminal = Terminal(command, shared.environment({}))
    wait_until(lambda: terminal.shows("kept") and len(vendor.calls()) >= 2)
    terminal.close()
    assert terminal.process.wait(30) == 130
    made = len(vendor.calls())
    follower = shared.start("watch", "kept")
    assert follower.stderr is not None
    assert "pages" in follower.stderr.readline()
    follower.send_signal(signal.SIGINT)
    _, err = follower.communicate(timeout=30)
    assert follower.returncode == 130
    assert "Interrupted. The job goes on in the background: `starter.py watch kept`" in err
    assert len(vendor.calls()) <= max(made, 4), "two slots of two models, and none made again"
    vendor.release()
    wait_until(lambda: shared.run("status", "kept", "--json").json["status"] == "completed")


def test_a_command_is_never_served_under_other_settings(
    shared: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    """The second stands beside the first while that one works; later the one is renewed."""
    vendor.behave(vendor_answers_late(30), model=SOL)
    secrets = {"OPENAI_API_KEY": "sk-first-secret", "ANTHROPIC_API_KEY": "sk-second-secret"}
    first = shared.also(**secrets, MAX_INFLIGHT_PER_MODEL="1", WHEN_BUSY="wait")
    job = first.run("process", mixed, "--detach", "--json", "--deadline", "5m").json["job_id"]
    vendor.wait_for_calls(1, timeout=60)
    other = pdfs.mixed_pdf(tmp_path / "other.pdf", 0, 2)
    second = shared.also(
        OPENAI_API_KEY="sk-third-secret", OPENAI_PRIMARY_MODEL="gpt-other", WHEN_BUSY="wait"
    )
    ran = second.process(other)
    assert ran.code == 0, ran.err
    assert ran.models() == {"gpt-other": 2}
    said = [line for line in ran.err.splitlines() if line.startswith("Settings differ")]
    assert said == [
        "Settings differ (ANTHROPIC_API_KEY, MAX_INFLIGHT_PER_MODEL, OPENAI_API_KEY, "
        "OPENAI_PRIMARY_MODEL): the service at work has other ones, so a second one stands "
        "beside it."
    ]
    assert len(notes_of(shared)) == 2
    listed = first.run("list", "--json").json["documents"]
    assert len(listed) == 2, "one list of all"
    assert first.run("status", job, "--json").json["status"] == "running"
    vendor.release()
    done = second.run("watch", job, "--json")
    assert done.code == 0, done.err
    assert done.models() == {SOL: 8}, "as it was started"
    status = first.run("service", "status", "--json").json["services"]
    assert [one["differs"] == [] for one in status] == [True, False]
    written = b"".join(
        path.read_bytes() for path in (shared.state / "service").rglob("*") if path.is_file()
    )
    for pid in (note["pid"] for note in notes_of(shared)):
        written += Path(f"/proc/{pid}/cmdline").read_bytes()
        written += Path(f"/proc/{pid}/environ").read_bytes()
    assert b"-secret" not in written
    assert "-secret" not in json.dumps(status) + ran.err


def test_an_idle_service_is_renewed_and_so_is_one_of_older_code(
    shared: Tool, one_page: Path
) -> None:
    assert shared.process(one_page).code == 0
    old = service_of(shared)["pid"]
    ran = shared.process(one_page, "--force", MAX_PAGES="77")
    assert "Settings differ (MAX_PAGES): the service is renewed" in ran.err
    new = service_of(shared)["pid"]
    assert new != old
    assert not alive(old)
    # As an upgrade finds it: what it says of its code is of other code.
    path = shared.state / "service/seat-1.json"
    note = json.loads(path.read_text())
    note["settings"]["the installed version"] = "0" * 24
    path.write_text(json.dumps(note))
    ran = shared.process(one_page, "--force", MAX_PAGES="77")
    assert ran.code == 0, ran.err
    assert "Settings differ (the installed version): the service is renewed" in ran.err
    assert service_of(shared)["pid"] != new


def test_a_note_of_a_dead_service_is_not_believed(shared: Tool, one_page: Path) -> None:
    """Its process id may be another program's by now."""
    assert shared.process(one_page).code == 0
    path = shared.state / "service/seat-1.json"
    note = service_of(shared)
    os.kill(note["pid"], signal.SIGKILL)
    wait_until(lambda: not notes_of(shared))
    note["pid"] = os.getpid()
    path.write_text(json.dumps(note))
    assert shared.run("service", "stop").code == 0
    assert shared.process(one_page, "--force").code == 0
    assert service_of(shared)["pid"] not in (note["pid"], os.getpid())


def test_status_and_stop(shared: Tool, vendor: StandIn, mixed: Path) -> None:
    assert shared.run("service", "status", "--json").json == {"running": False, "services": []}
    vendor.behave(vendor_hangs())
    job = shared.run("process", mixed, "--detach", "--json", MAX_PAGES="99").json["job_id"]
    vendor.wait_for_calls(1, timeout=60)
    [status] = shared.run("service", "status", "--json").json["services"]
    note = service_of(shared)
    assert (status["pid"], status["open"]) == (note["pid"], [job])
    assert status["settings"]["MAX_PAGES"] == "99"
    assert status["differs"] == ["MAX_PAGES"]
    assert 50e6 < status["memory_bytes"] < 1e9
    words = shared.run("service", "status").out
    assert f"open jobs: 1 ({job})" in words
    assert "this command's settings differ: MAX_PAGES" in words
    stopped = shared.run("service", "stop", "--now", "--json")
    assert stopped.json == {"stopped": 1, "kept": [job]}
    assert not alive(note["pid"])
    wait_until(lambda: not alive(note["server_pid"]), timeout=10)
    vendor.reset()
    assert shared.run("watch", job, "--json").sources() == {"mupdf": 4, "ai": 8}
