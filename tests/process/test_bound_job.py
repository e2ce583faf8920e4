"""A job id is bound to its request: under it, no one is given another document's text."""

import json
import shutil
import subprocess
from pathlib import Path

from quire.contracts.carried import DocumentRun
from quire.contracts.names import WORKFLOW_QUEUE, workflow_id
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.embedded import EmbeddedServer
from testing import pdfs
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn
from testing.wait import wait_until


def own_pdf(path: Path, words: str) -> Path:
    """A page of text with bytes that no other test has."""
    pdfs.text_pdf(path)
    path.write_bytes(path.read_bytes() + f"\n% {path} {words}\n".encode())
    return path


def conflict(ran: Ran, *named: str) -> str:
    assert ran.code == 4, ran.out + ran.err
    error = ran.json["error"]
    assert (error["code"], error["reason"]) == ("FORBIDDEN", "CONFLICT")
    [line] = [line for line in ran.err.splitlines() if "bound" in line or "--replace" in line]
    assert "Traceback" not in ran.err
    for word in named:
        assert word in line, line
    return line


def test_only_the_same_request_gets_the_result(shared_tool: Tool, tmp_path: Path) -> None:
    first, second = own_pdf(tmp_path / "first.pdf", "1"), own_pdf(tmp_path / "second.pdf", "2")
    job = ("--job-id", "bound-done")
    done = shared_tool.process(first, *job)
    assert done.code == 0, done.err
    copied = Path(shutil.copy(first, tmp_path / "renamed.pdf"))
    same = shared_tool.process(copied, *job, "--deadline", "2m", "--pages", "1-")
    assert same.json == done.json, "the same bytes are the same document"

    line = conflict(shared_tool.process(second, *job), "'first.pdf'", "'second.pdf'")
    assert "pages" not in line, "only what differs is named"
    line = conflict(shared_tool.process(first, *job, "--pages", "1"), "pages all, not 1")
    assert "first.pdf" not in line
    conflict(shared_tool.process(first, *job, "--prompt", "Shout."), "prompt none, not 'Shout.'")
    kept = first.read_bytes()
    own_pdf(first, "changed")
    conflict(shared_tool.process(first, *job), "'first.pdf'")
    first.write_bytes(kept)

    forced = shared_tool.process(second, *job, "--force")
    assert forced.code == 0, forced.err
    assert forced.json["sha256"] != done.json["sha256"]
    assert shared_tool.process(second, *job).json == forced.json, "the id has another request now"
    conflict(shared_tool.process(first, *job), "'second.pdf'", "not 'first.pdf'")


def test_a_failed_job_starts_again_for_its_own_request_only(
    lone_tool: Tool, tmp_path: Path
) -> None:
    locked = pdfs.locked_pdf(tmp_path / "locked.pdf", "secret")
    job = ("--job-id", "bound-failed")
    assert lone_tool.process(locked, *job).code == 3
    other = own_pdf(tmp_path / "other.pdf", "open")
    conflict(lone_tool.process(other, *job), "'locked.pdf'", "'other.pdf'")
    opened = lone_tool.process(locked, *job, "--password", "secret")
    assert opened.code == 0, "the password is no part of the request: " + opened.err


def test_of_two_requests_at_the_same_moment_one_is_refused(
    shared_tool: Tool, tmp_path: Path
) -> None:
    sources = [own_pdf(tmp_path / f"{name}.pdf", name) for name in ("a", "b")]
    both = [
        shared_tool.start("process", source, "--json", "--job-id", "bound-race")
        for source in sources
    ]
    ran = [ended(process) for process in both]
    assert sorted(one.code for one in ran) == [0, 4], ran[0].err + ran[1].err
    for source, one in zip(sources, ran, strict=True):
        if one.code == 0:
            assert one.json["source"] == source.name
        else:
            conflict(one, "'a.pdf'", "'b.pdf'")


def ended(process: subprocess.Popen[str]) -> Ran:
    out, err = process.communicate(timeout=90)
    return Ran(process.returncode, out, err, 0.0)


def test_a_running_job_is_ended_only_by_its_owner_and_by_name(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(60))
    vendor.behave(vendor_answers_late(0), first=3)
    asked = ("process", mixed, "--json", "--job-id", "live", "--user", "ana", "--deadline", "2m")
    running = tool.start(*asked)
    answers = tool.state / "store" / "answers"
    wait_until(lambda: len([*answers.rglob("*.json")]) == 3)
    conflict(tool.run(*asked, "--pages", "1-3"), "pages all, not 1-3")
    other = own_pdf(tmp_path / "other.pdf", "other")
    conflict(tool.run("process", other, *asked[2:]), "'mixed.pdf'", "'other.pdf'")
    refused = tool.run(*asked, "--force")
    conflict(refused)
    assert "--replace" in refused.json["error"]["remedy"]
    foreign = tool.run(*asked, "--force", "--replace", "--user", "bert")
    assert (foreign.code, foreign.json["error"]["reason"]) == (4, "NOT_OWNER")
    assert tool.run(*asked, "--replace").code == 2
    assert running.poll() is None, "nothing of all that has ended it"

    bought = len(vendor.calls())
    vendor.behave(vendor_answers_late(0))
    replaced = tool.run(*asked, "--force", "--replace")
    assert replaced.code == 0, replaced.err
    assert replaced.sources() == {"mupdf": 4, "ai": 8}
    assert len(vendor.calls()) - bought == 8 - 3, "what the ended run has bought is kept"
    assert len([page for page in replaced.pages if page["reused"]]) == 3
    first = ended(running)
    assert first.code == 1, "its run was ended, and it does not show the other's text"
    assert first.json["error"]["reason"] == "ENDED"


async def test_job_of_an_older_version_is_attached_to(
    lone_tool: Tool, one_page: Path, tmp_path: Path
) -> None:
    """It names its document by the path, and knows nothing of its bytes."""
    server = EmbeddedServer(lone_tool.state)
    try:
        client = await connect(Settings(), (await server.start()).address)
        for job in ("old", "gone"):
            source = shutil.copy(one_page, tmp_path / f"{job}.pdf")
            await client.start_workflow(
                "DocumentWorkflow",
                DocumentRun(job_id=job, source=str(source)),
                id=workflow_id(job),
                task_queue=WORKFLOW_QUEUE,
            )
    finally:
        server.leave()
    other = own_pdf(tmp_path / "other.pdf", "other")
    conflict(lone_tool.process(other, "--job-id", "old"), "'old.pdf'", "'other.pdf'")
    attached = lone_tool.process(one_page, "--job-id", "old")
    assert attached.code == 0, attached.err
    assert json.loads(attached.out)["source"] == str(tmp_path / "old.pdf")
    own_pdf(tmp_path / "old.pdf", "written over since")
    edited = lone_tool.process(tmp_path / "old.pdf", "--job-id", "old")
    conflict(edited, "'old.pdf'")
