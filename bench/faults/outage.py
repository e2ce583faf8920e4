"""A vendor that is down for a while, and pages that wait for it."""

from pathlib import Path

from bench.faults.line import Line
from testing import pdfs
from testing.tool import Tool
from testing.vendor.behaviours import vendor_fails
from testing.vendor.standin import StandIn

PAGES = 20


def lines(folder: Path) -> list[Line]:
    """Down for 20 s and then well; in hold mode the pages wait for it."""
    with StandIn() as vendor:
        vendor.behave(vendor_fails(503), until_s=20)
        tool = Tool(folder / "hold", vendor, DISPATCH_MODE="hold", BREAKER_BASE_BACKOFF="4s")
        ran = tool.process(pdfs.mixed_pdf(folder / "hold.pdf", 0, PAGES), "--deadline", "90s")
        read = ran.sources().get("ai", 0)
    return [Line("vendor down for 20 s, hold mode", 1, int(read == PAGES), PAGES - read, 0)]
