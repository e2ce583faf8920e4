"""What is left of a document after the vendor, or the machine, failed."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.findings import Part, Row
from bench.peers.budget import Budget
from bench.peers.contest import SLOTS, Contestant
from bench.peers.contestants import find_peers
from bench.peers.fault_report import part
from bench.peers.page_marks import truth
from bench.peers.quire_variants import as_it_comes, failing_fast, holding, one_route
from bench.peers.run_tool import LATENCY_S, Outcome, job_for, prepare, run, run_until_killed
from bench.progress import in_a_line, print_progress
from testing import pdfs
from testing.vendor.behaviours import (
    Behaviour,
    vendor_answers_late,
    vendor_hangs,
    vendor_rate_limits,
)
from testing.vendor.process import StandInProcess

PAGES = 40
# Within the limit of a call that hangs, with time to start and to end.
DEADLINE = "100s"
# The quick set has five minutes for all parts, and these must do also where every peer is at hand.
QUICK_EACH_S, QUICK_IN_ALL_S = 30.0, 45.0
# One page, before any fault.
WELL_WITHIN_S = 60.0


@dataclass(frozen=True)
class Fault:
    """A trouble by name; `strike` sets the vendor up, given what it says of a page, and `kills`
    also ends the tool in the middle.

    Past `limit_s` a tool is stopped: some would wait for ten minutes, some for ever.
    """

    name: str
    strike: Callable[[StandInProcess, str], None]
    kills: bool = False
    limit_s: float = 150.0


def _rule(behaviour: Behaviour, **when: Any) -> Callable[[StandInProcess, str], None]:
    return lambda vendor, answer: vendor.behave(behaviour, **when)


def _ten_times_slower(vendor: StandInProcess, answer: str) -> None:
    vendor.behave(vendor_answers_late(10 * LATENCY_S, answer), api="openai")


THIRD_429 = Fault("every third call 429", _rule(vendor_rate_limits(), every=3))
ALL_429 = Fault("every call 429", _rule(vendor_rate_limits()))
BURST = Fault(
    "5 calls of a model at once, then 0.3 a second, else 429 with Retry-After 5",
    _rule(vendor_rate_limits(5), spares=5, spares_per_s=0.3),
)
TENTH_HANGS = Fault(
    "every tenth call hangs, within 120 s", _rule(vendor_hangs(), every=10), limit_s=120.0
)
SLOWER = Fault("one vendor ten times slower", _ten_times_slower)
KILLED = Fault("killed in the middle, run again", lambda vendor, answer: None, kills=True)
FAULTS = (THIRD_429, ALL_429, BURST, TENTH_HANGS, SLOWER, KILLED)


def measure(full: bool, pages: int = PAGES) -> Part:
    """Full: 40 pages and every fault; quick: 12 pages and one."""
    peers, skipped = find_peers(install=full)
    ours: list[Contestant] = [as_it_comes("quire", DEADLINE)]
    faults: Sequence[Fault] = FAULTS
    failed: list[str] = []
    if full:
        ours += [one_route(DEADLINE), failing_fast(DEADLINE), holding(DEADLINE)]
    else:
        faults = [THIRD_429]
        names = ", ".join(fault.name for fault in FAULTS if fault is not THIRD_429)
        skipped.append(f"{names}: only with make bench-full")
    budget = Budget() if full else Budget(QUICK_EACH_S, QUICK_IN_ALL_S)
    pages = min(pages, PAGES if full else 12)
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        field: list[Contestant] = [*ours, *peers]
        if full:
            # The quick set has no time for it.
            field, failed = try_well(field, vendor, Path(name), SLOTS, budget)
        rows = suffer(faults, field, vendor, Path(name), pages, SLOTS, budget)
    return part(
        rows, [*skipped, *failed], pages=pages, slots=SLOTS, latency=LATENCY_S, deadline=DEADLINE
    )


def try_well(
    contestants: Sequence[Contestant],
    vendor: StandInProcess,
    folder: Path,
    slots: int,
    budget: Budget,
) -> tuple[list[Contestant], list[str]]:
    """Those that read a page of a vendor that is well, and a line for each other: what is broken on
    this machine must not count as lost to a fault."""
    pdf = pdfs.mixed_pdf(folder / "well.pdf", 0, 1)
    able: list[Contestant] = []
    failed: list[str] = []
    for contestant in contestants:
        try:
            prepare(vendor, contestant)
            job = job_for(pdf, folder / f"well-{contestant.name}", vendor, slots)
            outcome = run(contestant, job, vendor, budget.limit(WELL_WITHIN_S))
            if not outcome.marks:
                raise RuntimeError(f"no page read, exit code {outcome.exit_code}")
        except Exception as error:
            failed.append(f"{contestant.name}: with a vendor that is well: {in_a_line(error)}")
            print_progress(failed[-1])
        else:
            able.append(contestant)
    return able, failed


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
                fault.strike(vendor, contestant.answer)
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
