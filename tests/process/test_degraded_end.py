"""A document that is not all it could be says so: how many pages, why, and what mends them; and
while it waits, for what and until when."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from testing.tool import Tool
from testing.vendor.behaviours import vendor_rate_limits, vendor_refuses_key
from testing.vendor.standin import StandIn
from testing.wait import wait_until


def test_everywhere_the_end_says_why_and_what_mends_it(
    tool: Tool, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_refuses_key())
    job = ("--job-id", "poor", "--user", "ana")
    ran = tool.process(mixed, *job, LOG_LEVEL="info", LOG_FORMAT="json")
    message = ran.json["message"]
    assert message.startswith("Completed; 8 of 12 pages degraded (8 with MuPDF's text): GW_4XX on ")
    assert "check the key" in message
    assert message.endswith("`quire retry poor --user ana` reads them again.")
    # Also in the log, without a word of the vendor's or the owner's name.
    (line,) = [json.loads(line) for line in ran.err.splitlines() if '"document_completed"' in line]
    assert line["degraded"] == "GW_4XX on 8 pages"
    assert line["remedy"] == "quire retry poor"
    called = message.replace("`quire ", "`starter.py ")
    for command in ("result", "status", "watch"):
        assert called in tool.run(command, "poor").out, command
    assert tool.run("status", "poor", "--json").json["message"] == message
    vendor.reset()
    mended = tool.run("retry", "poor", "--user", "ana")
    assert mended.code == 0
    assert "degraded" not in mended.out
    assert tool.run("result", "poor", "--json").json["message"] == "Completed"


@pytest.mark.parametrize("local_ocr", ["auto", "never"])
def test_status_says_what_it_waits_for_and_until_when(
    tool: Tool, vendor: StandIn, mixed: Path, local_ocr: str
) -> None:
    """Also where a last resort could read the pages: nobody waits for that."""
    vendor.behave(vendor_rate_limits(45))
    waiting = tool.start("process", mixed, "--job-id", "waits", LOCAL_OCR=local_ocr)
    wait_until(lambda: waits(tool), timeout=60)
    (said,) = waits(tool)
    assert said.startswith("8 pages wait: every route rests after failures (RATE); the first, ")
    moment = said.rpartition(" at ")[2].removesuffix(" UTC.")
    until = datetime.strptime(moment, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    assert 0 < (until - datetime.now(UTC)).total_seconds() < 60
    assert said in tool.run("status", "waits").out
    assert tool.run("cancel", "waits").code == 0
    _, err = waiting.communicate(timeout=60)
    assert said in err, "and the command that follows it"


def waits(tool: Tool) -> list[str]:
    shown = tool.run("status", "waits", "--json")
    return list(shown.json["waiting_for"]) if shown.code == 0 else []
