"""Reading again and calling off, by hand."""

import json
from pathlib import Path

from testing.damage import objects
from testing.prose import WORDS
from testing.tool import Ran, Tool
from testing.vendor.behaviours import (
    vendor_answers,
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
)
from testing.vendor.standin import StandIn


def test_retry_turns_every_fallback_into_ai(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_fails(503))
    vendor.behave(vendor_answers(), first=2)
    first = tool.process(mixed, "--job-id", "again", "--user", "ana")
    assert first.sources() == {"mupdf": 4, "ai": 2, "mupdf_fallback": 6}
    good = {page["page"] for page in first.pages if page["source"] == "ai"}
    vendor.reset()
    second = tool.run("retry", "again", "--user", "ana", "--json")
    assert second.code == 0, second.err
    assert second.sources() == {"mupdf": 4, "ai": 8}
    assert len(vendor.calls()) == 6, "only the degraded pages"
    assert second.json["version"] == 2
    assert set(second.json["changed_pages"]) == set(range(5, 13)) - good
    assert second.json["metadata"]["pages_failed"] == 0
    kept = json.loads((tool.state / "results" / "again" / "v1" / "result.json").read_text())
    assert kept["version"] == 1
    assert kept["metadata"]["pages_failed"] == 6
    free = {"usage": {"input_tokens": 0, "output_tokens": 0}, "cost_usd": 0.0, "reused": True}
    for page in second.pages:
        if page["page"] in good:
            as_it_was = {**first.pages[page["page"] - 1], **free}
            assert page == as_it_was, "good pages stay as they are, and are not paid for again"


def test_retry_is_for_the_owner(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_fails(503))
    tool.process(mixed, "--job-id", "mine", "--user", "ana")
    ran = tool.run("retry", "mine", "--user", "bert", "--json")
    assert ran.code == 4
    assert ran.json["error"]["code"] == "FORBIDDEN"
    assert tool.run("result", "mine", "--json").json["version"] == 1


def test_a_job_id_is_its_owners(tool: Tool, mixed: Path, one_page: Path) -> None:
    """Under it nobody else reads another's text, or replaces the job."""
    done = tool.process(mixed, "--job-id", "mine", "--user", "ana")
    assert done.code == 0, done.err
    for wanted in ((), ("--force",)):
        ran = tool.process(one_page, "--job-id", "mine", "--user", "bert", *wanted)
        assert ran.code == 4, ran.out
        assert ran.json["error"]["code"] == "FORBIDDEN"
    assert tool.run("result", "mine", "--json").json["sha256"] == done.json["sha256"]
    assert tool.process(mixed, "--job-id", "mine", "--user", "ana").code == 0


def test_nothing_to_retry_says_so(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path
) -> None:
    shared_tool.process(own_mixed, "--job-id", "good")
    calls = len(shared_vendor.calls())
    ran = shared_tool.run("retry", "good", "--json")
    assert ran.code == 0
    assert "Nothing to retry" in ran.err
    wrong = shared_tool.run("retry", "good", "--pages", "99")
    assert wrong.code == 2
    assert wrong.out == ""
    assert "has no page 99" in wrong.err
    assert len(wrong.err.splitlines()) == 1
    assert len(shared_vendor.calls()) == calls


def test_named_good_page_is_read_anew(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    tool.process(mixed, "--job-id", "named", WHEN_BUSY="wait")
    vendor.reset()
    vendor.behave(vendor_answers(f"Another reading of the page. {WORDS}"))
    ran = tool.run("retry", "named", "--pages", "6", "--json", WHEN_BUSY="wait")
    assert ran.code == 0, ran.err
    assert len(vendor.calls()) == 1
    assert ran.json["changed_pages"] == [6]
    assert "Another reading of the page." in ran.text()


def test_vanished_source_is_fetched_again_or_expired(
    tool: Tool, vendor: StandIn, mixed: Path, web: tuple[str, Path]
) -> None:
    url, folder = web
    (folder / "mixed.pdf").write_bytes(mixed.read_bytes())
    vendor.behave(vendor_fails(503))
    tool = tool.also(ALLOW_PRIVATE_URLS="true")
    tool.run("process", f"{url}/mixed.pdf", "--job-id", "gone")

    def retry() -> Ran:
        for path in objects(tool.state / "store", "sources"):
            path.unlink()
        return tool.run("retry", "gone", "--json")

    found = retry()
    assert found.code == 0, f"its origin still has it: {found.err}"
    (folder / "mixed.pdf").unlink()
    ran = retry()
    assert ran.code == 3, (
        ran.err
    )  # the document is gone: the new run fails; 4 is for the job itself
    assert ran.json["error"]["code"] == "EXPIRED"


def test_running_document_reads_a_degraded_page_again(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    """Page 5 falls back at once; the others are slow, so the document is still running."""
    vendor.behave(vendor_answers_late(4))
    vendor.behave(vendor_fails(400), marker="page 5 of", first=1)
    process = tool.start("process", mixed, "--json", "--job-id", "live")
    vendor.wait_for_calls(3, timeout=60)
    ran = tool.run("retry", "live", "--pages", "5", "--json")
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert ran.code == 0, ran.err
    page = json.loads(out)["pages"][4]
    assert page["source"] == "ai"
    assert [attempt["outcome"] for attempt in page["attempts"]] == ["REQUEST", "ok"]


def test_cancel_keeps_what_is_done(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_hangs())
    vendor.behave(vendor_answers(), first=3)
    process = tool.start("process", mixed, "--json", "--job-id", "off", "--user", "ana")
    vendor.wait_for_calls(5, timeout=60)
    stranger = tool.run("cancel", "off", "--user", "bert", "--json")
    assert stranger.code == 4
    assert stranger.json["error"]["code"] == "FORBIDDEN"
    ran = tool.run("cancel", "off", "--user", "ana", "--json")
    assert ran.code == 0, ran.err
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out) == ran.json
    assert ran.json["metadata"]["cancelled"] is True
    assert ran.json["metadata"]["timeout_occurred"] is False
    assert ran.sources() == {"mupdf": 4, "ai": 3, "mupdf_fallback": 5}
    errors = {page["error"]["code"] for page in ran.pages if page["error"]}
    assert errors == {"NOT_READY"}
    assert all(call.ended for call in vendor.calls()), "calls in flight are aborted"
