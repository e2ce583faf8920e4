"""What is left of a document after the vendor, or the machine, failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.findings import Row
from bench.peers.budget import Budget
from bench.peers.contest import Contestant
from bench.peers.page_marks import truth
from bench.peers.run_tool import Outcome, job_for, prepare, run, run_until_killed
from bench.progress import in_a_line, print_progress
from testing import pdfs
from testing.vendor.behaviours import vendor_hangs, vendor_rate_limits
from testing.vendor.process import StandInProcess


@dataclass(frozen=True)
class Fault:
    """A trouble by name; `strike` sets the vendor up, `kills` also ends the tool in the middle.

    Past `limit_s` a tool is stopped: some would wait for ten minutes, some for ever.
    """

    name: str
    strike: Callable[[StandInProcess], None]
    kills: bool = False
    limit_s: float = 300.0


THIRD_429 = Fault(
    "every third call 429", lambda vendor: vendor.behave(vendor_rate_limits(), every=3)
)
ALL_429 = Fault("every call 429", lambda vendor: vendor.behave(vendor_rate_limits()))
TENTH_HANGS = Fault(
    "every tenth call hangs, within 120 s",
    lambda vendor: vendor.behave(vendor_hangs(), every=10),
    limit_s=120.0,
)
KILLED = Fault("killed in the middle, run again", lambda vendor: None, kills=True)
FAULTS = (THIRD_429, ALL_429, TENTH_HANGS, KILLED)


def suffer(
    faults: Sequence[Fault],
    contestants: Sequence[Contestant],
    vendor: StandInProcess,
    folder: Path,
    pages: int,
    slots: int,
    budget: Budget,
) -> list[Row]:
    """Every fault to every tool, one after the other. A measurement that goes wrong is a row that
    says so, and the next one follows."""
    pdf = pdfs.mixed_pdf(folder / "faults.pdf", 0, pages)
    rows: list[Row] = []
    for number, fault in enumerate(faults):
        for contestant in contestants:
            place = folder / f"fault-{number}-{contestant.name}"
            try:
                prepare(vendor, contestant)
                fault.strike(vendor)
                limit_s = budget.limit(fault.limit_s)
                row = _one(fault, contestant, vendor, place, pdf, pages, slots, limit_s)
            except Exception as error:
                row = {
                    "fault": fault.name,
                    "tool": contestant.name,
                    "pages": pages,
                    "note": f"not measured: {in_a_line(error)}",
                }
            rows.append(row)
            said = row.get("recovered", row["note"])
            print_progress(f"{fault.name}: {contestant.name}: {said} of {pages} pages")
    return rows


def _one(
    fault: Fault,
    contestant: Contestant,
    vendor: StandInProcess,
    place: Path,
    pdf: Path,
    pages: int,
    slots: int,
    limit_s: float,
) -> Row:
    job = job_for(pdf, place, vendor, slots)
    notes = []
    answered: set[str] = set()
    if fault.kills:
        if not run_until_killed(contestant, job, vendor, pages // 2, limit_s):
            notes.append("ended before it could be killed")
        answered = {call.image_mark for call in vendor.calls() if call.status == 200}
    outcome = run(contestant, job, vendor, limit_s)
    if outcome.exit_code is None:
        notes.append(f"stopped, still at it after {limit_s:.0f} s")
    repeated = sum(1 for call in outcome.calls if call.image_mark in answered)
    return {
        "fault": fault.name,
        "tool": contestant.name,
        "pages": pages,
        "recovered": len(outcome.marks),
        "calls": len(vendor.calls()),
        "repeated": repeated if fault.kills else None,
        "at_once": outcome.at_once,
        "exit_code": outcome.exit_code,
        "seconds": round(outcome.seconds, 1),
        "truth": truth(pages - len(outcome.marks), outcome.exit_code, outcome.claim),
        "note": "; ".join(filter(None, [*notes, _sources(outcome), outcome.claim.note])),
    }


def _sources(outcome: Outcome) -> str:
    """Pages by source, where a tool reports them and not all are the model's."""
    by_source = outcome.claim.sources
    if set(by_source) <= {"ai"}:
        return ""
    return ", ".join(f"{count} {source}" for source, count in sorted(by_source.items()))
