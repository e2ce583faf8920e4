"""It cost what it said: what results and lists say is what the vendor billed, once."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from testing.tool import Ran, Tool
from testing.vendor.behaviours import (
    vendor_answers,
    vendor_answers_empty,
    vendor_answers_late,
    vendor_fails,
    vendor_loops,
    vendor_refuses,
    vendor_sends_error_body,
    vendor_truncates,
)
from testing.vendor.standin import StandIn

PRIMARY = "gpt-6.1-sol"


def tokens_of(report: dict[str, Any]) -> tuple[int, int]:
    """Tokens of the whole, which are those of the pages."""
    meta, pages = report["metadata"], report["pages"]
    tokens = meta["input_tokens"], meta["output_tokens"]
    assert sum(page["usage"]["input_tokens"] for page in pages) == tokens[0]
    assert sum(page["usage"]["output_tokens"] for page in pages) == tokens[1]
    assert meta["cost_usd"] == pytest.approx(sum(page["cost_usd"] for page in pages))
    assert bool(meta["cost_usd"]) == any(tokens)
    return tokens


def spent(tool: Tool, job: str) -> list[tuple[int, float]]:
    """Tokens and dollars of the job's runs as `list` shows them, the newest first."""
    rows = tool.run("list", "--runs", "--json").json["documents"]
    return [(row["tokens"], row["cost_usd"]) for row in rows if row["job_id"] == job]


def agree(tool: Tool, job: str, ran: Ran) -> None:
    """`status` and the newest row of `list` say what the result says."""
    meta = ran.json["metadata"]
    tokens, cost = spent(tool, job)[0]
    assert tokens == sum(tokens_of(ran.json))
    assert cost == pytest.approx(meta["cost_usd"])
    detail = tool.run("status", job, "--json").json["progress_detail"]
    assert (detail["input_tokens"], detail["output_tokens"]) == tokens_of(ran.json)
    assert detail["cost_usd"] == pytest.approx(meta["cost_usd"], abs=1e-5)


def test_answers_that_did_not_count_are_paid_for(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_refuses(), marker="page 5 of", first=1)
    vendor.behave(vendor_loops(), marker="page 6 of", first=1)
    vendor.behave(vendor_truncates(), marker="page 7 of", first=2)
    vendor.behave(vendor_answers_empty(), marker="page 8 of", first=1)
    vendor.behave(vendor_sends_error_body(billed=True), marker="page 9 of", first=1)
    ran = tool.process(mixed, "--job-id", "vain")
    outcomes = [page["attempts"][0]["outcome"] for page in ran.pages[4:9]]
    assert outcomes == ["CONTENT", "OUTPUT", "OUTPUT", "BAD_BODY", "BAD_BODY"]
    assert tokens_of(ran.json) == vendor.billed()
    agree(tool, "vain", ran)


def test_page_that_nobody_read_still_cost_something(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_refuses(), marker="page 6 of")
    ran = tool.process(mixed, "--job-id", "vain")
    page = ran.pages[5]
    assert page["source"] == "mupdf_fallback"
    assert page["cost_usd"] > 0
    assert tokens_of(ran.json) == vendor.billed()
    agree(tool, "vain", ran)


def test_answer_with_twice_the_room_cost_both(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_truncates(below=9000), marker="page 5 of")
    ran = tool.process(mixed)
    assert ran.sources() == {"mupdf": 4, "ai": 8}
    assert len(vendor.calls()) == 9
    assert tokens_of(ran.json) == vendor.billed()


def test_stored_result_costs_nothing(
    shared_tool: Tool, shared_vendor: StandIn, own_mixed: Path
) -> None:
    first = shared_tool.process(own_mixed, "--job-id", "paid")
    assert tokens_of(first.json) == shared_vendor.billed()
    again = shared_tool.process(own_mixed, "--job-id", "stored")
    assert again.json["cached"] is True
    assert tokens_of(again.json) == (0, 0)
    assert [page["reused"] for page in again.pages] == [False] * 4 + [True] * 8
    agree(shared_tool, "paid", first)
    agree(shared_tool, "stored", again)


def test_stored_pages_cost_nothing(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_fails(503))
    vendor.behave(vendor_answers(), first=3, model=PRIMARY)
    first = tool.process(mixed, "--job-id", "first", WHEN_BUSY="wait")
    good = {page["page"] for page in first.pages if page["source"] == "ai"}
    assert good
    before = vendor.billed()
    assert tokens_of(first.json) == before
    vendor.reset()
    second = tool.process(mixed, "--job-id", "second", WHEN_BUSY="wait")
    assert second.sources() == {"mupdf": 4, "ai": 8}
    assert {page["page"] for page in second.pages if page["reused"]} == good
    assert tokens_of(second.json) == vendor.billed()
    agree(tool, "second", second)
    vendor.reset()
    forced = tool.process(mixed, "--job-id", "forced", "--force", WHEN_BUSY="wait")
    assert not any(page["reused"] for page in forced.pages)
    assert tokens_of(forced.json) == vendor.billed() != (0, 0)


def test_retry_says_what_the_retry_cost(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_refuses())
    vendor.behave(vendor_answers(), first=2)
    first = tool.process(mixed, "--job-id", "again")
    bill = vendor.billed()
    assert tokens_of(first.json) == bill
    vendor.reset()
    second = tool.run("retry", "again", "--json")
    assert second.sources() == {"mupdf": 4, "ai": 8}
    assert tokens_of(second.json) == vendor.billed()
    agree(tool, "again", second)
    kept = json.loads((tool.state / "results" / "again" / "v1" / "result.json").read_text())
    assert tokens_of(kept) == bill
    runs = [tokens for tokens, _ in spent(tool, "again")]
    assert runs == [sum(vendor.billed()), sum(bill)], "the runs add up to the job"


@pytest.mark.servers
def test_two_jobs_that_buy_the_same_page_at_once_both_say_so(mixed: Path, tmp_path: Path) -> None:
    """The store keeps one of the two answers, and each is a little longer than the one before."""
    lengths = itertools.count(10, 10)
    with StandIn(answer=lambda asked: " ".join(map(str, range(next(lengths))))) as vendor:
        vendor.behave(vendor_answers_late(2))
        tool = Tool(tmp_path / "state", vendor).warmed()
        both = [tool.start("process", mixed, "--json", "--job-id", name) for name in ("a", "b")]
        bills = []
        for running in both:
            out, err = running.communicate(timeout=90)
            assert running.returncode == 0, err
            bills.append(tokens_of(json.loads(out)))
        assert len(vendor.calls()) > 8, "some were bought twice"
        assert tuple(map(sum, zip(*bills, strict=True))) == vendor.billed()


def test_document_that_fails_at_the_end_says_what_it_cost(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    nowhere = {"RESULTS_URL": "s3://nowhere/results", "AWS_EC2_METADATA_DISABLED": "true"}
    ran = tool.process(mixed, "--job-id", "lost", **nowhere)
    assert ran.code == 3, ran.err
    assert ran.json["error"]["reason"] == "S3_CREDENTIALS"
    ((tokens, cost),) = spent(tool, "lost")
    assert tokens == sum(vendor.billed()) > 0
    assert cost > 0
