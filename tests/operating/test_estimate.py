"""`estimate` says what a document will take, and takes nothing."""

from pathlib import Path

import pytest

from domain.contracts import Classification, ImageOptions, PageSurvey, ReadingOptions
from domain.estimate import expect
from providers.pricing import Tokens, cost_usd
from tests import pdfs
from tests.tool import Tool
from tests.vendor.standin import StandIn


def test_estimate_counts_the_calls_that_follow(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    ran = tool.run("estimate", mixed, "--json")
    assert ran.code == 0, ran.err
    assert vendor.calls() == []
    assert not tool.state.exists(), "no server, no store"
    found = ran.json
    assert found["pages_by_class"] == {"HAS_GRAPHICS": 8, "TEXT_ONLY": 4}
    assert tool.process(mixed).code == 0
    assert found["calls"] == len(vendor.calls()) == 8
    primary = found["tiers"]["primary"]
    assert primary["route"] == "openai:gpt-6.1-sol"
    tokens = Tokens(read=primary["input_tokens"], written=primary["output_tokens"])
    assert primary["cost_usd"] == cost_usd("openai", "gpt-6.1-sol", tokens)
    assert primary["cost_usd_after_failover"] >= primary["cost_usd"] > 0
    assert found["tiers"]["fast"]["cost_usd"] < primary["cost_usd"]


def test_without_a_vendor_it_is_free_and_words_are_for_people(
    lone_tool: Tool, tmp_path: Path
) -> None:
    scan = pdfs.scanned_pdf(tmp_path / "scan.pdf", 2)
    ran = lone_tool.run("estimate", scan, "--pages", "2")
    assert ran.code == 0, ran.err
    assert "1 pages: 1 SCANNED; 1 calls" in ran.out
    assert "local:rapidocr" in ran.out
    assert "$0.0000" in ran.out
    assert lone_tool.run("estimate", scan, "--pages", "9").code == 2
    assert lone_tool.run("estimate", tmp_path / "none.pdf").code == 3


def survey(number: int, kind: Classification, text: str = "") -> PageSurvey:
    return PageSurvey(page=number, classification=kind, reason="", text=text)


def test_tokens_follow_the_picture_the_prompt_and_the_text() -> None:
    pages = [
        survey(1, Classification.TEXT_ONLY, "x" * 4000),
        survey(2, Classification.HAS_GRAPHICS, "x" * 3100),
        survey(3, Classification.SCANNED),
    ]
    reading = ReadingOptions(system_prompt="x" * 400, context_bytes=2000)
    found = expect(pages, reading, every_page=False)
    image = pytest.approx(2 * 827 * 1169 / 750 + 200 + 500 + 500, abs=3)
    assert found.calls == 2
    assert found.input_tokens == image
    assert found.output_tokens == round(3500 / 3.5) + round(2500 / 3.5)
    fine = reading.model_copy(update={"image": ImageOptions(dpi=200)})
    assert expect(pages, fine, every_page=False).input_tokens > 2.5 * found.input_tokens
    assert expect(pages, reading, every_page=True).calls == 3
