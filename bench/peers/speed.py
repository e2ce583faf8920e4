"""The same document through every tool, with a vendor in good health."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.findings import Row
from bench.medians import ratio
from bench.peers.budget import Budget
from bench.peers.contest import Contestant, Job
from bench.peers.run_tool import LATENCY_S, Outcome, job_for, prepare, run
from bench.progress import in_a_line, print_progress
from bench.usage import megabytes
from testing import pdfs
from testing.vendor.process import StandInProcess

LIMIT_S = 900.0


@dataclass(frozen=True)
class Speed:
    """One tool's time and memory. `document_s` leaves out what it takes to start."""

    tool: str
    ours: bool
    pages: int
    outcome: Outcome
    document_s: float
    runs: int = 1

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
            "runs": self.runs,
            "pages": self.pages,
            "read": len(outcome.marks),
            "calls": len(outcome.calls),
            "at_once": outcome.at_once,
            "process_s": round(self.process_s, 2),
            "document_s": round(self.document_s, 2),
            "calls_span_s": round(outcome.calls_span_s, 2),
            "pages_per_s": ratio(self.pages, self.document_s),
            "peak_mb": megabytes(outcome.peak_bytes),
            "vendor_cpu_s": round(outcome.vendor_cpu_s, 2),
            "image_kb": round(max((c.image_bytes for c in outcome.calls), default=0) / 1e3),
            "exit_code": outcome.exit_code,
        }


def ideal_s(pages: int, slots: int) -> float:
    """What the vendor alone takes."""
    return math.ceil(pages / slots) * LATENCY_S


def settled(runs: Sequence[Speed]) -> Speed:
    """The one that counts: our worse run, a peer's better; whatever disturbed the machine must not
    speak for us. A run that read every page is better than one that did not."""
    choose = max if runs[0].ours else min
    return replace(choose(runs, key=lambda run: (not run.complete, run.process_s)), runs=len(runs))


def compare(
    ours: Sequence[Contestant],
    peers: Sequence[Contestant],
    vendor: StandInProcess,
    folder: Path,
    pages: int,
    slots: int,
    *,
    rounds: int,
    budget: Budget,
) -> tuple[list[Speed], list[str]]:
    """One after the other, and in the next round the other way round; and a line for each run that
    went wrong, which ends no other."""
    pdf = pdfs.mixed_pdf(folder / "speed.pdf", 0, pages)
    first, *variants = ours
    order = [first, *peers, *variants]
    runs: dict[str, list[Speed]] = {tool.name: [] for tool in order}
    failed = []
    for number in range(rounds):
        for tool in order if number % 2 == 0 else order[::-1]:
            place = folder / f"speed-{number}-{tool.name}"
            try:
                job = job_for(pdf, place, vendor, slots)
                speed = _one(tool, vendor, job, pages, budget, ours=tool in ours)
            except Exception as error:
                failed.append(f"{tool.name}, run {number + 1}: {in_a_line(error)}")
                print_progress(failed[-1])
                continue
            runs[tool.name].append(speed)
            said = f"{len(speed.outcome.marks)} of {pages} pages in {speed.process_s:.1f} s"
            print_progress(f"{tool.name}, run {number + 1}: {said}")
    return [settled(found) for found in runs.values() if found], failed


def _one(
    tool: Contestant, vendor: StandInProcess, job: Job, pages: int, budget: Budget, *, ours: bool
) -> Speed:
    limit_s = budget.limit(LIMIT_S)
    # Before, so that its files are in the machine's cache in the run as they are afterwards.
    before = tool.imports_s()
    prepare(vendor, tool)
    outcome = run(tool, job, vendor, limit_s)
    seconds = tool.document_s(job)
    if seconds is None:
        imports = min(before, tool.imports_s())
        # On a busy machine imports may take longer than they did in the run.
        seconds = max(outcome.seconds - imports, outcome.calls_span_s)
    return Speed(tool.name, ours, pages, outcome, seconds)
