"""What vendors do to a document while it is read, with the tool's defaults: models read every page,
and a document whose vendors are all gone is soon done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.faults.line import Line
from testing import pdfs
from testing.tool import Tool
from testing.vendor.behaviours import (
    Behaviour,
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
    vendor_rate_limits,
)
from testing.vendor.standin import StandIn

PAGES = 40


@dataclass(frozen=True)
class Case:
    """A fault with the calls that it is for. The document must be read by models; or, where every
    vendor is gone, be done `within_s` of its start, after so many calls at most."""

    fault: str
    behaviour: Behaviour
    when: Mapping[str, Any] = field(default_factory=dict)
    pages: int = PAGES
    call_s: float = 0.5
    deadline: str = "100s"
    settings: Mapping[str, str] = field(default_factory=dict)
    within_s: float | None = None
    calls_at_most: int | None = None

    @property
    def to_be_read(self) -> int:
        """How many pages models must read."""
        return self.pages if self.within_s is None else 0


HOLD = {"DISPATCH_MODE": "hold"}
CASES = (
    Case("every third call 429", vendor_rate_limits(), {"every": 3}),
    Case("every third call 429, Retry-After 2", vendor_rate_limits(2), {"every": 3}),
    Case("all 429 for 10 s", vendor_rate_limits(), {"until_s": 10}),
    Case("all 429 for 10 s, a page alone", vendor_rate_limits(), {"until_s": 10}, pages=1),
    Case("all 500 from 6 s to 18 s", vendor_fails(500), {"from_s": 6, "until_s": 18}, call_s=2),
    Case(
        "5 calls of a model, then 0.3 a second, else 429 with Retry-After 5",
        vendor_rate_limits(5),
        {"spares": 5, "spares_per_s": 0.3},
    ),
    Case("every tenth call hangs", vendor_hangs(), {"every": 10}),
    Case("one vendor dead", vendor_fails(500), {"api": "openai"}),
    Case("one vendor ten times slower", vendor_answers_late(5), {"api": "openai"}),
    Case("every vendor dead", vendor_fails(500), within_s=5, calls_at_most=15),
    Case("every call hangs, 8 s for it", vendor_hangs(), deadline="8s", within_s=10),
    Case("vendors down for 20 s, hold mode", vendor_fails(503), {"until_s": 20}, settings=HOLD),
    Case(
        "vendors down for 25 s, hold mode, three pages",
        vendor_fails(503),
        {"until_s": 25},
        pages=3,
        settings=HOLD,
    ),
)


def lines(folder: Path) -> list[Line]:
    """A line for each case."""
    return [_line(case, folder / f"case-{number}") for number, case in enumerate(CASES)]


def _line(case: Case, folder: Path) -> Line:
    folder.mkdir()
    with StandIn() as vendor:
        vendor.behave(vendor_answers_late(case.call_s))
        vendor.behave(case.behaviour, **case.when)
        tool = Tool(folder / "state", vendor, **case.settings)
        source = pdfs.mixed_pdf(folder / "document.pdf", 0, case.pages)
        ran = tool.process(source, "--deadline", case.deadline)
        calls = len(vendor.calls())
    ends = (ran.json["started_at"], ran.json["completed_at"])
    started, completed = (datetime.fromisoformat(moment) for moment in ends)
    seconds = (completed - started).total_seconds()
    lost = max(0, case.to_be_read - ran.sources().get("ai", 0))
    well = not lost and seconds <= (case.within_s or seconds)
    well = well and calls <= (case.calls_at_most or calls)
    return Line(case.fault, 1, int(well), lost, 0, f"{seconds:.0f} s, {calls} calls")
