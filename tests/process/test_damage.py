"""Damage in the store costs at most a page: nothing damaged is served, and nothing is fatal."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from quire.contracts.page import TextSource
from testing import pdfs
from testing.damage import damage, objects
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn
from testing.wait import wait_until

KINDS = ("sources", "surveys", "answers", "finished", "texts")
pytestmark = pytest.mark.servers


def own(store: Path, kind: str, sha256: str) -> list[Path]:
    """A document's objects of a kind; texts are named by their own hash."""
    return [path for path in objects(store, kind) if kind == "texts" or sha256 in str(path)]


def warnings(ran: Ran) -> str:
    return " ".join(ran.json["metadata"]["warnings"])


@pytest.mark.parametrize("how", ["edited", "cut"])
def test_everything_damaged_is_made_again(
    shared_tool: Tool, shared_vendor: StandIn, tmp_path: Path, how: str
) -> None:
    document = pdfs.mixed_pdf(tmp_path / "d.pdf", 2, 3)
    document.write_bytes(document.read_bytes() + f"\n% {tmp_path}\n".encode())
    store = Path(shared_tool.settings["STORE_URL"])
    first = shared_tool.process(document, "--job-id", f"damage-{how}-1")
    assert first.sources() == {"mupdf": 2, "ai": 3}, first.err
    text, sha256 = first.text(), first.json["sha256"]
    assert damage(own(store, "texts", sha256), how)
    second = shared_tool.process(document, "--job-id", f"damage-{how}-2")
    assert (second.code, second.text()) == (0, text), "an edited text is not served as cached"
    assert len(shared_vendor.calls()) == 3, "and its pages are not bought again"
    for kind in KINDS:
        assert damage(own(store, kind, sha256), how), kind
    third = shared_tool.process(document, "--job-id", f"damage-{how}-3", "--deadline", "40s")
    assert (third.code, third.text()) == (0, text), third.err
    assert third.sources() == {"mupdf": 2, "ai": 3}
    assert third.json["cached"] is False
    assert len(shared_vendor.calls()) == 6
    for kind in ("surveys", "answers", "finished"):
        assert kind in warnings(third)
    assert len(objects(store, f"quarantine/{sha256}")) == 1 + 1 + 3 + 1, "kept for examination"
    assert shared_tool.process(document, "--job-id", f"damage-{how}-4").json["cached"] is True


def test_running_document_survives_what_happens_to_its_objects(
    tool: Tool, vendor: StandIn, web: tuple[str, Path]
) -> None:
    """Everything stops, and meanwhile the store loses brief and document, a survey is cut and an
    answer edited. Only the page of that answer is degraded, and it can be read again."""
    url, folder = web
    pdfs.mixed_pdf(folder / "d.pdf", 2, 6)
    tool = tool.also(ALLOW_PRIVATE_URLS="true")
    vendor.behave(vendor_answers_late(1.0))
    command = ("process", f"{url}/d.pdf", "--json", "--job-id", "hurt", "--deadline", "2m")
    process = tool.start(*command, MAX_INFLIGHT_PER_MODEL="1", WHEN_BUSY="wait")
    store = tool.state / "store"
    # One after the other, so that the first one's receipt has long been in history.
    wait_until(lambda: len(objects(store, "answers")) >= 3)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    victim = min(objects(store, "answers"), key=lambda path: path.stat().st_mtime)
    for kind in ("briefs", "sources"):
        (lost,) = objects(store, kind)
        lost.unlink()
    damage(objects(store, "surveys"), "cut")
    damage([victim], "edited")
    vendor.reset()
    ran = tool.run(*command, MAX_INFLIGHT_PER_MODEL="1", WHEN_BUSY="wait")
    assert ran.code == 0, ran.err
    assert ran.sources() == {"mupdf": 2, "ai": 5, "mupdf_fallback": 1}
    (degraded,) = [page for page in ran.pages if page["source"] == TextSource.MUPDF_FALLBACK]
    assert degraded["page"] == int(victim.name.partition("-")[0])
    assert degraded["error"]["code"] == "IO_ERROR"
    assert "1 of answers, 1 of surveys" in warnings(ran)
    assert all(page["chars"] for page in ran.pages)
    vendor.reset()
    again = tool.run("retry", "hurt", "--json")
    assert again.sources() == {"mupdf": 2, "ai": 6}, again.err
    assert len(vendor.calls()) == 1


def test_result_that_a_person_edits_is_given_as_it_was_written(
    shared_tool: Tool, own_mixed: Path, tmp_path: Path
) -> None:
    ran = shared_tool.process(own_mixed, "--job-id", "edited", "--out", tmp_path / "mine")
    (tmp_path / "mine" / "text.txt").write_text("my own notes")
    place = Path(shared_tool.settings["RESULTS_URL"]) / "edited"
    text = (place / "text.txt").read_text()
    report: dict[str, Any] = json.loads((place / "result.json").read_text())

    def given() -> Ran:
        return shared_tool.run("result", "edited", "--json", "--with-text")

    (place / "result.json").write_text(json.dumps(report))
    assert given().json["text"] == text
    assert "changed" not in warnings(given()), "only written in another way"
    (place / "text.txt").write_text("edited")
    (place / "result.json").write_text(json.dumps({**report, "message": "edited"}))
    changed = given()
    assert changed.json["text"] == text
    assert changed.json["message"] == ran.json["message"]
    assert "text.txt was changed" in warnings(changed)
    assert "result.json" in warnings(changed)
    (place / "v1" / "text.txt").unlink()
    assert given().json["text"] == text, "the store has it, too"
    assert (place / "text.txt").read_text() == "edited", "the file is the person's"
    assert (tmp_path / "mine" / "text.txt").read_text() == "my own notes"
    (place / "v1" / "result.json").write_text("cut")
    assert given().json["error"]["reason"] == "RESULT_DAMAGED"
