"""What a request may say of vendors that fail."""

import time
from pathlib import Path

from testing import pdfs
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_fails, vendor_says_what_is_left
from testing.vendor.standin import StandIn

PRIMARY = "gpt-6.1-sol"


def test_held_page_outlasts_an_outage_and_a_page_that_fails_fast_does_not(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """Every vendor fails for 25 s: a document of one page waits for as long as it was told to."""
    one_scan = pdfs.mixed_pdf(tmp_path / "one.pdf", 0, 1)
    vendor.behave(vendor_fails(500))
    ran = tool.process(one_scan, "--mode", "fail_fast", "--job-id", "fast")
    assert ran.sources() == {"mupdf_fallback": 1}
    assert ran.seconds < 20, "seconds, on a machine that may be busy"
    held = tool.start("process", one_scan, "--json", "--mode", "hold", "--deadline", "10m")
    time.sleep(25)
    assert held.poll() is None, "it has not given up"
    vendor.reset()
    out, err = held.communicate(timeout=60)
    assert held.returncode == 0, err
    assert '"source": "ai"' in out


def test_one_model_reads_it_all(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_answers_late(0.2))
    assert tool.process(mixed, "--one-model").models() == {PRIMARY: 8}


def test_vendor_that_says_its_rate_is_used_up_is_left_alone(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """The first answer says so: no call follows for two seconds, and nothing has failed."""
    vendor.behave(vendor_says_what_is_left(0, 3), first=1)
    document = pdfs.mixed_pdf(tmp_path / "four.pdf", 0, 4)
    ran = tool.process(document, ROUTE_CHAIN=f"openai:{PRIMARY}", MAX_INFLIGHT_PER_MODEL="1")
    assert ran.sources() == {"ai": 4}
    assert all(len(page["attempts"]) == 1 for page in ran.pages)
    first, second, *_ = sorted(call.started for call in vendor.calls())
    assert second - first >= 2
