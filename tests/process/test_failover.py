"""Vendors that limit, fail, refuse and hang, in the mode `fail_fast`: the document finishes and its
result is true."""

from datetime import datetime
from pathlib import Path

import pytest

from testing.tool import Ran, Tool
from testing.vendor.behaviours import (
    Behaviour,
    vendor_answers_late,
    vendor_cuts_connection,
    vendor_fails,
    vendor_finds_image_too_large,
    vendor_hangs,
    vendor_lacks_model,
    vendor_loops,
    vendor_out_of_quota,
    vendor_rate_limits,
    vendor_refuses,
    vendor_refuses_key,
    vendor_rejects_page,
    vendor_sends_html,
)
from testing.vendor.standin import StandIn

PRIMARY, SECONDARY, OTHER = "gpt-6.1-sol", "gpt-6.1-terra", "claude-sonnet-5-5"
SLOTS = 2


@pytest.fixture
def tool(tool: Tool) -> Tool:
    """One failure is enough, and no page waits: the pair that a request calls `fail_fast`."""
    return tool.also(BREAKER_TRIP="first", DISPATCH_MODE="fail_fast")


def took(ran: Ran) -> float:
    ends = (ran.json["started_at"], ran.json["completed_at"])
    started, completed = (datetime.fromisoformat(moment) for moment in ends)
    return (completed - started).total_seconds()


def test_rate_limited_primary_rests_and_the_others_read(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    vendor.behave(vendor_rate_limits(), model=PRIMARY)
    ran = tool.process(forty)
    assert ran.sources() == {"ai": 40}
    assert set(ran.models()) <= {SECONDARY, OTHER}
    assert len(vendor.calls(PRIMARY)) <= SLOTS
    failed = [page for page in ran.pages if page["attempts"][0]["outcome"] == "RATE"]
    assert {page["attempts"][0]["code"] for page in failed} == {"GW_4XX"}
    assert all(page["attempts"][-1]["outcome"] == "ok" for page in failed)


def test_after_both_models_fail_the_other_provider_reads(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    vendor.behave(vendor_rate_limits(), model=PRIMARY)
    vendor.behave(vendor_fails(503), model=SECONDARY)
    ran = tool.process(forty)
    assert ran.models() == {OTHER: 40}
    assert len(vendor.calls(PRIMARY)) <= SLOTS
    assert len(vendor.calls(SECONDARY)) <= SLOTS


def test_retry_after_longer_than_the_backoff_is_kept(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    """The breaker would half-open after 100 ms; the vendor asked for an hour."""
    vendor.behave(vendor_answers_late(0.2))
    vendor.behave(vendor_rate_limits(3600), model=PRIMARY)
    ran = tool.process(forty, BREAKER_BASE_BACKOFF="100ms")
    assert ran.sources() == {"ai": 40}
    assert len(vendor.calls(PRIMARY)) <= SLOTS


def test_resting_model_is_probed_once_and_returns(tool: Tool, vendor: StandIn, forty: Path) -> None:
    vendor.behave(vendor_answers_late(0.3))
    vendor.behave(vendor_fails(503), model=PRIMARY, first=1)
    ran = tool.process(forty, BREAKER_BASE_BACKOFF="300ms", MAX_INFLIGHT_PER_MODEL="1")
    assert ran.models()[PRIMARY] > 1
    calls = sorted(call.started for call in vendor.calls(PRIMARY))
    assert calls[1] - calls[0] >= 0.3


def test_rejected_page_falls_back_alone(tool: Tool, vendor: StandIn, forty: Path) -> None:
    vendor.behave(vendor_rejects_page(), marker="page 7 of")
    ran = tool.process(forty)
    assert ran.code == 0
    assert ran.sources() == {"ai": 39, "mupdf_fallback": 1}
    page = ran.pages[6]
    assert page["source"] == "mupdf_fallback"
    assert page["error"]["code"] == "GW_4XX"
    assert page["error"]["error_type"] == "terminal"
    assert len([call for call in vendor.calls() if "page 7 of" in call.user]) == 1
    assert "marker-007" in ran.text(), "its MuPDF text is there"
    assert tool.process(forty, "--strict").code == 5


@pytest.mark.parametrize(
    ("fault", "out", "most"),
    [
        pytest.param(vendor_refuses_key(), {PRIMARY, SECONDARY}, 2 * SLOTS, id="refuses_key"),
        pytest.param(vendor_out_of_quota(), {PRIMARY, SECONDARY}, 2 * SLOTS, id="out_of_quota"),
        pytest.param(vendor_cuts_connection(), {PRIMARY, SECONDARY}, 2 * SLOTS, id="cuts"),
        pytest.param(vendor_lacks_model(), {PRIMARY}, SLOTS, id="lacks_model"),
        pytest.param(vendor_sends_html(), {PRIMARY}, SLOTS, id="sends_html"),
    ],
)
def test_what_is_out_is_out_after_the_calls_in_flight(
    tool: Tool, vendor: StandIn, forty: Path, fault: Behaviour, out: set[str], most: int
) -> None:
    for model in out:
        vendor.behave(fault, model=model)
    ran = tool.process(forty)
    assert ran.sources() == {"ai": 40}
    assert not set(ran.models()) & out
    assert sum(len(vendor.calls(model)) for model in out) <= most


@pytest.mark.parametrize("fault", [vendor_refuses(), vendor_loops()], ids=["refuses", "loops"])
def test_a_bad_answer_sends_only_its_page_elsewhere(
    tool: Tool, vendor: StandIn, mixed: Path, fault: Behaviour
) -> None:
    vendor.behave(fault, api="openai", marker="page 5 of")
    ran = tool.process(mixed, WHEN_BUSY="wait")
    assert ran.sources() == {"mupdf": 4, "ai": 8}
    assert ran.pages[4]["model"] == OTHER
    assert ran.models() == {PRIMARY: 7, OTHER: 1}, "no breaker opened"


def test_too_large_image_is_sent_once_smaller(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_finds_image_too_large(), marker="page 5 of", first=1)
    ran = tool.process(mixed)
    assert ran.sources() == {"mupdf": 4, "ai": 8}
    large, small = [call for call in vendor.calls() if "page 5 of" in call.user]
    assert small.image_bytes < large.image_bytes


def test_every_vendor_down_falls_back_in_seconds(tool: Tool, vendor: StandIn, forty: Path) -> None:
    vendor.behave(vendor_fails(503))
    ran = tool.process(forty)
    assert ran.code == 0
    assert ran.sources() == {"mupdf_fallback": 40}
    assert len(vendor.calls()) <= 3 * SLOTS
    assert took(ran) < 15, "seconds, on a machine that may be busy"
    meta = ran.json["metadata"]
    assert meta["pages_failed"] == meta["mupdf_fallback_count"] == 40
    assert meta["timeout_occurred"] is False
    assert all(page["error"]["code"] == "GW_5XX" for page in ran.pages)
    assert "marker-040" in ran.text()


def test_hung_vendors_end_at_the_deadline(tool: Tool, vendor: StandIn, forty: Path) -> None:
    vendor.behave(vendor_hangs())
    vendor.behave(vendor_answers_late(0), first=5)
    ran = tool.process(forty, "--deadline", "8s")
    assert ran.code == 0
    assert took(ran) < 8 + 2
    meta = ran.json["metadata"]
    assert meta["timeout_occurred"] is True
    assert ran.sources()["ai"] == 5, "what had finished is kept"
    assert ran.sources()["mupdf_timeout_fallback"] == meta["missing_pages"]
    assert sum(ran.sources().values()) == 40


def test_hung_primary_costs_only_the_first_wave(tool: Tool, vendor: StandIn, forty: Path) -> None:
    vendor.behave(vendor_answers_late(0.2))
    vendor.behave(vendor_hangs(), model=PRIMARY)
    ran = tool.process(forty, REQUEST_TIMEOUT="2s")
    assert ran.sources() == {"ai": 40}
    assert set(ran.models()) == {SECONDARY, OTHER}
    assert len(vendor.calls(PRIMARY)) <= SLOTS
    waited = [page for page in ran.pages if page["attempts"][0]["outcome"] == "TIMEOUT"]
    assert len(waited) <= SLOTS


def test_vendor_calls_are_aborted_at_the_deadline(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_hangs())
    tool.process(mixed, "--deadline", "2s")
    assert all(call.aborted or call.ended for call in vendor.calls())


def test_held_pages_wait_for_a_vendor_that_recovers(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_fails(503), first=8)
    ran = tool.process(mixed, "--deadline", "60s", DISPATCH_MODE="hold", BREAKER_BASE_BACKOFF="2s")
    assert ran.sources() == {"mupdf": 4, "ai": 8}
    assert len(vendor.calls()) == 8 + 8, "it was down, and then read every page"


def test_held_pages_fall_back_when_the_deadline_leaves_no_time(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_fails(503))
    ran = tool.process(mixed, "--deadline", "20s", DISPATCH_MODE="hold")
    assert ran.sources() == {"mupdf": 4, "mupdf_fallback": 8}
    assert ran.json["metadata"]["timeout_occurred"] is False, "it did not wait in vain"


def test_window_of_calls_forgives_single_failures(tool: Tool, vendor: StandIn, forty: Path) -> None:
    vendor.behave(vendor_fails(503), model=PRIMARY, first=3)
    ran = tool.process(forty, BREAKER_TRIP="window", WHEN_BUSY="wait", CIRCUIT_WINDOW="10")
    assert ran.sources() == {"ai": 40}
    assert ran.models()[PRIMARY] == 37, "three pages went on, the rest stayed"


def test_window_of_calls_opens_on_its_share(tool: Tool, vendor: StandIn, forty: Path) -> None:
    vendor.behave(vendor_fails(503), model=PRIMARY)
    ran = tool.process(forty, BREAKER_TRIP="window", WHEN_BUSY="wait", CIRCUIT_WINDOW="10")
    assert ran.sources() == {"ai": 40}
    assert 5 <= len(vendor.calls(PRIMARY)) <= 5 + 2 * SLOTS


def test_attempt_that_waited_behind_a_hung_call_ends_by_its_own_share(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    """One page is drawn ahead for two slots; both hang for a third of the time that is left."""
    vendor.behave(vendor_hangs(), model=PRIMARY)
    ran = tool.process(mixed, "--deadline", "12s", WHEN_BUSY="wait")
    first, _, behind, *_ = sorted(vendor.calls(PRIMARY), key=lambda call: call.started)
    lasted = [(call.ended or 0) - call.started for call in (first, behind)]
    assert behind.started >= first.started + lasted[0] - 0.1, "it came to a slot when that was free"
    assert lasted[1] < lasted[0] / 2, "its own share was all but over by then"
    assert took(ran) < 12 + 2
