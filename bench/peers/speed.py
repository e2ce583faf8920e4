"""The same document through every tool, with a vendor in good health."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.findings import Row
from bench.peers.contest import Contestant, Job
from bench.peers.running import LATENCY_S, Outcome, job_for, prepare, run
from tests import pdfs
from tests.vendor.process import RemoteStandIn

LIMIT_S = 900.0


@dataclass(frozen=True)
class Speed:
    """One tool's time and memory. `document_s` leaves out what it takes to start."""

    tool: str
    pages: int
    outcome: Outcome
    document_s: float

    @property
    def process_s(self) -> float:
        return self.outcome.seconds

    @property
    def complete(self) -> bool:
        return self.outcome.exit_code == 0 and len(self.outcome.marks) == self.pages

    def row(self) -> Row:
        outcome = self.outcome
        return {
            "tool": self.tool,
            "pages": self.pages,
            "read": len(outcome.marks),
            "calls": len(outcome.calls),
            "at_once": outcome.at_once,
            "process_s": round(self.process_s, 2),
            "document_s": round(self.document_s, 2),
            "calls_span_s": round(outcome.calls_span_s, 2),
            "pages_per_s": round(self.pages / self.document_s, 2),
            "peak_mb": round(outcome.peak_bytes / 1e6),
            "image_kb": round(max((c.image_bytes for c in outcome.calls), default=0) / 1e3),
            "exit_code": outcome.exit_code,
        }


def ideal_s(pages: int, slots: int) -> float:
    """What the vendor alone takes."""
    return math.ceil(pages / slots) * LATENCY_S


def compare(
    ours: Contestant,
    peers: Sequence[Contestant],
    vendor: RemoteStandIn,
    folder: Path,
    pages: int,
    slots: int,
) -> list[Speed]:
    """One after the other, in one go; ours first and last, and its slower run counts: a machine
    that got busier in between must not speak for us."""
    pdf = pdfs.mixed_pdf(folder / "speed.pdf", 0, pages)

    def one(contestant: Contestant, number: int) -> Speed:
        job = job_for(pdf, folder / f"speed-{number}", vendor, slots)
        return _one(contestant, vendor, job, pages)

    first, *others, last = [one(tool, number) for number, tool in enumerate((ours, *peers, ours))]
    return [max(first, last, key=lambda speed: speed.process_s), *others]


def _one(contestant: Contestant, vendor: RemoteStandIn, job: Job, pages: int) -> Speed:
    prepare(vendor, contestant)
    outcome = run(contestant, job, vendor, LIMIT_S)
    seconds = contestant.document_s(job)
    if seconds is None:
        # Measured afterwards: its files are in the machine's cache, as they were in the run.
        seconds = outcome.seconds - contestant.imports_s()
    return Speed(contestant.name, pages, outcome, seconds)
