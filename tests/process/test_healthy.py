"""The main job, with vendors that are well."""

import tempfile
from pathlib import Path

import pytest

from testing import pdfs
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn

PRIMARY = "gpt-6.1-sol"
ROUTES = {PRIMARY, "gpt-6.1-terra", "claude-sonnet-5-5"}


def test_text_pages_come_from_mupdf_and_vision_pages_from_models(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path
) -> None:
    ran = shared_tool.process(own_mixed)
    assert ran.code == 0, ran.err
    assert ran.sources() == {"mupdf": 4, "ai": 8}
    assert len(shared_vendor.calls()) == 8, "one call a page"
    meta = ran.json["metadata"]
    assert meta["total_pages"] == 12
    assert meta["ai_pages"] == meta["ai_pages_succeeded"] == 8
    assert meta["text_only_pages"] == 4
    assert meta["pages_done"] == 12
    assert meta["pages_failed"] == meta["mupdf_fallback_count"] == meta["missing_pages"] == 0
    assert meta["timeout_occurred"] is False
    assert meta["result_text_len"] == len(ran.text())


def test_text_is_merged_in_page_order(shared_tool: Tool, own_mixed: Path) -> None:
    text = shared_tool.process(own_mixed).text()
    headings = [line for line in text.splitlines() if line.startswith("=== Page ")]
    assert headings == [f"=== Page {n} ===" for n in range(1, 13)]
    assert "\n\n=== Page 2 ===\n" in text
    assert "marker-001" in text.split("=== Page 2 ===")[0]


def test_request_holds_image_rules_and_neighbours(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path
) -> None:
    shared_tool.process(own_mixed)
    call = next(call for call in shared_vendor.calls() if "page 6 of 12" in call.user)
    assert call.image_media_type == "image/jpeg"
    assert call.image_bytes > 1000
    assert "single column" in call.system
    assert "marker-005" in call.user
    assert "marker-007" in call.user
    assert "marker-006" not in call.user, "the page itself is in the image"


def test_spill_uses_the_next_routes_when_the_first_is_full(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path
) -> None:
    shared_vendor.behave(vendor_answers_late(0.5))
    ran = shared_tool.process(own_mixed)
    assert set(ran.models()) == ROUTES
    for model in ROUTES:
        assert shared_vendor.max_concurrent(model) <= 2


def test_wait_reads_the_whole_document_with_one_model(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_answers_late(0.2))
    ran = tool.process(mixed, WHEN_BUSY="wait")
    assert ran.models() == {PRIMARY: 8}
    assert vendor.max_concurrent(PRIMARY) == 2


def test_engine_and_tier_choose_the_models(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    ran = tool.process(mixed, "--engine", "anthropic", "--tier", "fast", WHEN_BUSY="wait")
    assert ran.models() == {"claude-haiku-5-5": 8}
    assert {call.api for call in vendor.calls()} == {"anthropic"}


def test_extra_provider_serves_through_the_openai_protocol(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    ran = tool.process(
        mixed,
        WHEN_BUSY="wait",
        EXTRA_PROVIDERS="deepinfra",
        DEEPINFRA_BASE_URL=vendor.openai_url,
        ROUTE_CHAIN="deepinfra:allenai/olmOCR-2-7B-1025,openai:gpt-6-luna",
    )
    assert ran.models() == {"allenai/olmOCR-2-7B-1025": 8}
    assert ran.pages[-1]["provider"] == "deepinfra"


def test_usage_and_cost_are_on_every_page(shared_tool: Tool, own_mixed: Path) -> None:
    ran = shared_tool.process(own_mixed)
    read = [page for page in ran.pages if page["source"] == "ai"]
    assert all(page["usage"]["input_tokens"] > 0 for page in read)
    assert all(page["cost_usd"] > 0 for page in read)
    total = sum(page["cost_usd"] for page in read)
    assert abs(ran.json["metadata"]["cost_usd"] - total) < 1e-9


def test_text_only_calls_nobody(shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path) -> None:
    ran = shared_tool.process(own_mixed, "--text-only")
    assert ran.sources() == {"mupdf": 12}
    assert shared_vendor.calls() == []


def test_send_all_pages_asks_about_text_pages_too(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    ran = tool.process(mixed, IMAGE_SEND_ALL_PAGES="true")
    assert ran.sources() == {"ai": 12}


def test_chosen_pages_only(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path, tmp_path: Path
) -> None:
    ran = shared_tool.process(own_mixed, "--pages", "1,6-7", "--out", tmp_path / "out")
    assert [page["page"] for page in ran.pages] == [1, 6, 7]
    assert len(shared_vendor.calls()) == 2
    assert ran.json["metadata"]["result_local_path"] == str(tmp_path / "out" / "text.txt")
    assert (tmp_path / "out" / "result.json").exists()


def test_a_page_is_never_bought_twice(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    first = tool.process(mixed, WHEN_BUSY="wait")
    again = tool.process(mixed, WHEN_BUSY="wait")
    assert again.text() == first.text()
    assert len(vendor.calls()) == 8
    forced = tool.process(mixed, "--force", WHEN_BUSY="wait")
    assert forced.sources() == first.sources()
    assert len(vendor.calls()) == 16


def test_two_documents_at_once_share_the_slots(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    """Both commands share one server; each brings its own worker with its own slots."""
    vendor.behave(vendor_answers_late(0.3))
    one = pdfs.mixed_pdf(tmp_path / "a.pdf", 0, 9)
    two = pdfs.mixed_pdf(tmp_path / "b.pdf", 0, 10)
    running = [tool.start("process", path, "--json") for path in (one, two)]
    ended = [process.communicate(timeout=90) for process in running]
    assert [process.returncode for process in running] == [0, 0], ended
    assert len(vendor.calls()) == 19
    for model in ROUTES:
        assert vendor.max_concurrent(model) <= 2 * 2


def test_no_key_means_local_ocr(lone_tool: Tool, tmp_path: Path) -> None:
    scan = pdfs.scanned_pdf(tmp_path / "scan.pdf")
    ran = lone_tool.process(scan)
    assert ran.sources() == {"ocr": 1}
    assert "harbour master keeps a careful log" in " ".join(ran.text().split())
    assert ran.json["metadata"]["cost_usd"] == 0.0


@pytest.mark.parametrize("deep", [False, True])
def test_nothing_is_left_in_the_folder_for_temporary_files(
    lone_tool: Tool, one_page: Path, deep: bool
) -> None:
    """A socket's address has no room for a deep folder; that must not be the user's concern."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        scratch = Path(name, *["deep-folder"] * 9) if deep else Path(name)
        scratch.mkdir(parents=True, exist_ok=True)
        ran = lone_tool.process(one_page, TMPDIR=str(scratch))
        assert ran.code == 0, ran.err
        assert list(scratch.iterdir()) == []
