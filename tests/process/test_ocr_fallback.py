"""Scans that local OCR reads in the place of vendors that fail: degraded, and mended later."""

from pathlib import Path

import pytest

from quire.contracts.names import LOCAL_PROVIDER
from quire.store.seal import seal, unseal
from testing import pdfs
from testing.damage import objects
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers, vendor_fails
from testing.vendor.standin import StandIn


@pytest.fixture
def tool(tool: Tool) -> Tool:
    return tool.also(LOCAL_OCR="auto")


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    return pdfs.scanned_pdf(tmp_path / "scans.pdf", 2)


def counts(ran: Ran) -> tuple[int, int, int, int]:
    meta = ran.json["metadata"]
    assert meta["pages_failed"] == meta["mupdf_fallback_count"] + meta["ocr_fallback_count"]
    assert meta["ai_pages"] == meta["ai_pages_succeeded"] + meta["ocr_pages"] + meta["pages_failed"]
    assert meta["total_pages"] == meta["pages_done"] + meta["pages_failed"]
    return meta["pages_done"], meta["pages_failed"], meta["ocr_fallback_count"], meta["ocr_pages"]


def test_an_outage_degrades_and_a_retry_mends(tool: Tool, vendor: StandIn, scans: Path) -> None:
    vendor.behave(vendor_fails(503))
    out = tool.process(scans, "--job-id", "outage", "--strict")
    assert out.code == 5, out.err
    assert out.sources() == {"ocr_fallback": 2}
    assert counts(out) == (0, 2, 2, 0)
    assert "harbour master keeps a careful log" in " ".join(out.text().split())
    for page in out.pages:
        assert page["provider"] == LOCAL_PROVIDER
        assert page["attempts"][-1]["outcome"] == "ok"
        assert page["error"]["code"] == "GW_5XX", "why no vendor's model read it"
    shown = tool.run("status", "outage", "--json").json
    assert (shown["completed_items"], shown["failed_items"]) == (0, 2)
    assert shown["progress_detail"]["pages_by_source"] == {"ocr_fallback": 2}
    assert shown["progress_detail"]["page_errors"].keys() == {"1", "2"}
    table = tool.run("status", "outage", "--with-pages").out
    assert "ocr_fallback" in table
    (row,) = tool.run("list", "--fallback", "--json").json["documents"]
    assert (row["job_id"], row["fallback_pages"]) == ("outage", 2)
    vendor.reset()
    mended = tool.run("retry", "outage", "--json")
    assert mended.sources() == {"ai": 2}
    assert counts(mended) == (2, 0, 0, 0)
    assert tool.run("list", "--fallback", "--json").json["documents"] == []


def test_a_retry_while_the_outage_lasts_keeps_the_text(
    tool: Tool, vendor: StandIn, scans: Path
) -> None:
    """The engine's text comes from the store: it is neither lost nor made again."""
    vendor.behave(vendor_fails(503))
    first = tool.process(scans, "--job-id", "lasting")
    again = tool.run("retry", "lasting", "--json")
    assert again.sources() == {"ocr_fallback": 2}
    assert again.text() == first.text()
    assert [page["answer"] for page in again.pages] == [page["answer"] for page in first.pages]
    assert all(len(new["attempts"]) > len(old["attempts"]) for new, old in both(again, first))


def both(one: Ran, two: Ran) -> list[tuple[dict, dict]]:  # type: ignore[type-arg]
    return list(zip(one.pages, two.pages, strict=True))


def test_an_outage_is_not_the_truth_for_later_jobs(
    tool: Tool, vendor: StandIn, scans: Path
) -> None:
    vendor.behave(vendor_fails(503), marker="page 2 of")
    assert tool.process(scans).sources() == {"ai": 1, "ocr_fallback": 1}
    assert not objects(tool.state / "store", "finished"), "a degraded result is not kept"
    vendor.reset()
    assert not vendor.calls()
    well = tool.process(scans)
    assert well.json["cached"] is False
    assert well.sources() == {"ai": 2}
    assert len(vendor.calls()) == 1, "what a model had read is not bought again"


def test_a_result_that_an_outage_of_before_has_left_is_not_used(
    tool: Tool, vendor: StandIn, scans: Path
) -> None:
    """Versions from before kept what local OCR had read in a vendor's place as a whole result."""
    vendor.behave(vendor_answers())
    tool.process(scans, "--job-id", "whole")
    store = tool.state / "store"
    (kept,) = objects(store, "finished")
    key = str(kept.relative_to(store))
    whole = unseal(key, kept.read_bytes())
    assert whole is not None
    kept.write_bytes(seal(key, whole.replace(b'"source":"ai"', b'"source":"ocr"')))
    ran = tool.process(scans, "--job-id", "later")
    assert ran.json["cached"] is False
    assert ran.sources() == {"ai": 2}
    (mended,) = objects(store, "finished")
    assert mended == kept
    assert tool.process(scans, "--job-id", "last").json["cached"] is True


def test_local_ocr_by_choice_is_no_fallback(tool: Tool, vendor: StandIn, scans: Path) -> None:
    """By its name, and as an ordinary route of a chain; both results are kept and used again."""
    vendor.behave(vendor_fails(503))
    chained = tool.also(ROUTE_CHAIN="openai:gpt-6.1-sol,local:rapidocr")
    for own, wish in ((tool, ("--engine", "local")), (chained, ())):
        ran = own.process(scans, "--strict", *wish)
        assert ran.code == 0, ran.err
        assert ran.sources() == {"ocr": 2}
        assert counts(ran) == (2, 0, 0, 2)
        assert own.process(scans, *wish).json["cached"] is True
    assert tool.run("list", "--fallback", "--json").json["documents"] == []
