"""`estimate` says what a document will take, and takes nothing."""

from pathlib import Path

import pytest

from quire.contracts.page import Classification
from quire.contracts.reading import ImageOptions, ReadingOptions
from quire.contracts.stored import PageSurvey
from quire.domain.document.estimate import expect
from quire.providers.pricing import cost_usd
from quire.providers.tokens import Tokens
from testing import pdfs
from testing.s3 import BUCKET, S3Server
from testing.tool import Tool
from testing.vendor.standin import StandIn


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
    assert primary["cost_usd_dearest_route"] >= primary["cost_usd"] > 0
    assert found["tiers"]["fast"]["cost_usd"] < primary["cost_usd"]


def test_without_a_vendor_it_is_free_and_words_are_for_people(
    lone_tool: Tool, tmp_path: Path
) -> None:
    scan = pdfs.scanned_pdf(tmp_path / "scan.pdf", 2)
    ran = lone_tool.run("estimate", scan, "--pages", "2")
    assert ran.code == 0, ran.err
    assert "1 page: 1 SCANNED; 1 call to" in ran.out
    assert "local:rapidocr" in ran.out
    assert "$0.0000" in ran.out
    assert "It is not a limit" in ran.out


def test_every_source_that_process_takes(
    tool: Tool, vendor: StandIn, web: tuple[str, Path], s3: S3Server, mixed: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    tool = tool.also(TMPDIR=str(scratch), ALLOW_PRIVATE_URLS="true", **s3.settings)
    scans = tmp_path / "scans"
    scans.mkdir()
    for number in (1, 2, 10):
        (scans / f"page_{number}.png").write_bytes(pdfs.picture_of(f"number {number}"))
    (scans / "notes.txt").write_text("not a page")
    (web[1] / "mixed.pdf").write_bytes(mixed.read_bytes())
    s3.client().upload_file(str(mixed), BUCKET, "inbox/mixed.pdf")

    def estimate(*sources: object) -> tuple[str, dict[str, int], int]:
        ran = tool.run("estimate", *sources, "--json")
        assert ran.code == 0, ran.err
        return ran.json["source"], ran.json["pages_by_class"], ran.json["calls"]

    whole = {"HAS_GRAPHICS": 8, "TEXT_ONLY": 4}
    assert estimate(f"{web[0]}/mixed.pdf") == ("mixed.pdf", whole, 8)
    assert estimate(f"s3://{BUCKET}/inbox/mixed.pdf") == ("mixed.pdf", whole, 8)
    assert estimate(scans) == ("scans", {"SCANNED": 3}, 3)
    assert estimate(*sorted(scans.glob("*.png"))) == ("page_1.png and 2 more", {"SCANNED": 3}, 3)
    assert estimate(scans / "page_1.png") == ("page_1.png", {"SCANNED": 1}, 1)
    assert estimate(mixed, "--pages", "4-5") == (mixed.name, {"HAS_GRAPHICS": 1, "TEXT_ONLY": 1}, 1)
    assert estimate(mixed, "--text-only") == (mixed.name, whole, 0)
    assert vendor.calls() == []
    assert not tool.state.exists(), "no server, no store"
    assert [path for path in scratch.rglob("*") if path.is_file()] == [], "nothing is left behind"


def test_locked_documents(lone_tool: Tool, tmp_path: Path) -> None:
    locked = pdfs.locked_pdf(tmp_path / "locked.pdf", " secret ")
    (tmp_path / "pw").write_text(" secret \n")
    right = [
        lone_tool.run("estimate", locked, "--json", "--password", " secret "),
        lone_tool.run("estimate", locked, "--json", "--password-file", tmp_path / "pw"),
        lone_tool.run("estimate", locked, "--json", QUIRE_PASSWORD=" secret "),
    ]
    assert [ran.code for ran in right] == [0, 0, 0], right[0].err
    assert {ran.json["total_pages"] for ran in right} == {1}
    wrong = lone_tool.run("estimate", locked, "--json", "--password", "secret")
    assert (wrong.code, wrong.json["error"]["reason"]) == (3, "PASSWORD_WRONG")
    missing = lone_tool.run("estimate", locked, "--json")
    assert (missing.code, missing.json["error"]["reason"]) == (3, "PASSWORD_MISSING")
    assert not lone_tool.state.exists(), "no key was made: nothing was sealed"


def test_what_process_refuses_is_refused_alike(
    lone_tool: Tool, web: tuple[str, Path], s3: S3Server, one_page: Path, tmp_path: Path
) -> None:
    lone_tool = lone_tool.also(**s3.settings)
    three = pdfs.text_pdf(tmp_path / "three.pdf", 3)
    (tmp_path / "empty.pdf").touch()
    (tmp_path / "note.pdf").write_text("just words")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "scans").mkdir()
    for number in (1, 2):
        (tmp_path / "scans" / f"{number}.png").write_bytes(pdfs.picture_of(str(number)))
    (web[1] / "a.pdf").write_bytes(one_page.read_bytes())
    public = "ALLOW_PRIVATE_URLS=true"
    cases: list[tuple[tuple[object, ...], str, str]] = [
        ((tmp_path / "none.pdf",), "", "3 IO_ERROR NOT_FOUND"),
        ((tmp_path / "empty.pdf",), "", "3 NOT_PDF EMPTY"),
        ((tmp_path / "note.pdf",), "", "3 NOT_PDF NOT_PDF"),
        ((tmp_path / "nothing",), "", "3 NOT_PDF NO_IMAGES"),
        ((three, one_page), "", "3 NOT_PDF SEVERAL"),
        ((three,), "MAX_FILE_SIZE=100B", "3 TOO_LARGE BYTES"),
        ((three,), "MAX_PAGES=2", "3 TOO_LARGE PAGES"),
        ((tmp_path / "scans",), "MAX_IMAGES=1", "3 TOO_LARGE IMAGES"),
        ((one_page, "--engine", "openai"), "", "2 GW_4XX AUTH"),
        ((one_page, "--pages", "five"), "", "2 UNKNOWN USAGE"),
        ((f"{web[0]}/a.pdf", one_page), public, "2 UNKNOWN USAGE"),
        ((f"{web[0]}/a.pdf",), "", "3 IO_ERROR PRIVATE_ADDRESS"),
        ((f"{web[0]}/none.pdf",), public, "3 EXPIRED SOURCE_GONE"),
        ((f"s3://{BUCKET}/none.pdf",), "", "3 EXPIRED SOURCE_GONE"),
    ]
    for arguments, setting, expected in cases:
        name, _, value = setting.partition("=")
        asked = lone_tool.also(**{name: value}) if name else lone_tool
        ran = asked.run("estimate", *arguments, "--json")
        error = ran.json["error"]
        assert f"{ran.code} {error['code']} {error['reason']}" == expected, arguments


def test_where_the_two_take_different_ways_the_words_are_the_same(
    lone_tool: Tool, s3: S3Server, one_page: Path
) -> None:
    lone_tool = lone_tool.also(**s3.settings)
    cases: list[tuple[object, ...]] = [
        (one_page, "--pages", "7-9"),
        ("s3://no-such-bucket/none.pdf",),
    ]
    for arguments in cases:
        guessed = lone_tool.run("estimate", *arguments, "--json")
        tried = lone_tool.run("process", *arguments, "--json")
        assert guessed.code == tried.code == 3, arguments
        assert guessed.json["error"] == tried.json["error"], arguments


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
    # A scan is drawn as finely as it is, within the budget; other pages are not.
    budget = reading.model_copy(update={"image": ImageOptions(max_pixels=1_500_000)})
    more = expect(pages, budget, every_page=False).input_tokens - found.input_tokens
    assert more == pytest.approx((1_500_000 - 827 * 1169) / 750, abs=3)
    assert expect(pages, reading, every_page=True).calls == 3
