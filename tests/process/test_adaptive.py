"""The default mode against vendors that limit, fail and hang: models read every page."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from testing.tool import Ran, Tool
from testing.vendor.behaviours import (
    Behaviour,
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
    vendor_rate_limits,
)
from testing.vendor.standin import StandIn


def took(ran: Ran) -> float:
    ends = (ran.json["started_at"], ran.json["completed_at"])
    started, completed = (datetime.fromisoformat(moment) for moment in ends)
    return (completed - started).total_seconds()


SPARES = {"spares": 5, "spares_per_s": 2}


@pytest.mark.parametrize(
    ("fault", "when"),
    [
        pytest.param(vendor_rate_limits(), {"every": 3}, id="every third refused"),
        pytest.param(vendor_rate_limits(1), {"every": 3}, id="and asked to come back later"),
        pytest.param(vendor_rate_limits(), {"first": 15}, id="all refused at first"),
        pytest.param(vendor_rate_limits(2), SPARES, id="a burst, then a rate"),
        pytest.param(vendor_fails(500), {"skip": 8, "first": 12}, id="an outage"),
        pytest.param(vendor_fails(500), {"api": "openai"}, id="one vendor dead"),
    ],
)
def test_every_page_is_read_by_a_model(
    tool: Tool, vendor: StandIn, forty: Path, fault: Behaviour, when: dict[str, Any]
) -> None:
    vendor.behave(vendor_answers_late(0.5))
    vendor.behave(fault, **when)
    ran = tool.process(forty, "--deadline", "100s")
    assert ran.sources() == {"ai": 40}
    failed = [a for page in ran.pages for a in page["attempts"] if a["outcome"] != "ok"]
    assert failed, "the fault was there"


def test_call_that_hangs_at_the_end_is_made_elsewhere_too(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    """One call of the first model hangs for its whole minute; nobody waits for it."""
    vendor.behave(vendor_answers_late(0.3))
    vendor.behave(vendor_hangs(), skip=20, first=1)
    ran = tool.process(forty, "--deadline", "100s")
    assert ran.sources() == {"ai": 40}
    twice = [page for page in ran.pages if len(page["attempts"]) > 1]
    assert [[a["outcome"] for a in page["attempts"]] for page in twice] == [["CALLED_OFF", "ok"]]
    first, second = twice[0]["attempts"]
    assert first["route"] != second["route"]
    assert took(ran) < 45, "ten seconds more than without it, on a machine that may be busy"


def test_calls_that_hang_end_by_their_timeout_and_lose_no_page(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    vendor.behave(vendor_answers_late(0.3))
    vendor.behave(vendor_hangs(), every=10)
    ran = tool.process(forty, "--deadline", "100s", REQUEST_TIMEOUT="4s")
    assert ran.sources() == {"ai": 40}
    assert any(a["outcome"] == "TIMEOUT" for page in ran.pages for a in page["attempts"])


def test_slow_vendor_is_passed_over_for_a_fast_one(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    """Its first calls take as long as they take; then the other reads, but for few pages."""
    vendor.behave(vendor_answers_late(0.3))
    vendor.behave(vendor_answers_late(3.0), api="openai")
    ran = tool.process(forty, "--deadline", "100s")
    assert ran.sources() == {"ai": 40}
    assert ran.models()["claude-sonnet-5-5"] > 20


def test_vendors_that_all_hang_end_with_the_deadline(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    vendor.behave(vendor_hangs())
    ran = tool.process(forty, "--deadline", "8s")
    assert "ai" not in ran.sources()
    assert took(ran) < 10


def test_vendors_that_are_dead_cost_few_calls_and_seconds(
    tool: Tool, vendor: StandIn, forty: Path
) -> None:
    vendor.behave(vendor_fails(500))
    ran = tool.process(forty)
    assert ran.sources() == {"mupdf_fallback": 40}
    assert len(vendor.calls()) <= 15
    assert took(ran) < 15, "seconds, on a machine that may be busy"
