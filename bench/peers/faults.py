"""What is left of a document after the vendor, or the machine, failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.findings import Row
from bench.peers.contest import Contestant
from bench.peers.counting import truth
from bench.peers.running import Outcome, job_for, prepare, run, run_until_killed
from tests import pdfs
from tests.vendor.behaviours import vendor_hangs, vendor_rate_limits
from tests.vendor.process import RemoteStandIn


@dataclass(frozen=True)
class Fault:
    """A trouble by name; `strike` sets the vendor up, `kills` also ends the tool in the middle.

    Past `limit_s` a tool is stopped: some would wait for ten minutes, some for ever.
    """

    name: str
    strike: Callable[[RemoteStandIn], None]
    kills: bool = False
    limit_s: float = 300.0


THIRD_429 = Fault(
    "every third call 429", lambda vendor: vendor.behave(vendor_rate_limits(), every=3)
)
ALL_429 = Fault("every call 429", lambda vendor: vendor.behave(vendor_rate_limits()))
TENTH_HANGS = Fault(
    "every tenth call hangs",
    lambda vendor: vendor.behave(vendor_hangs(), every=10),
    limit_s=120.0,
)
KILLED = Fault("killed in the middle, run again", lambda vendor: None, kills=True)
FAULTS = (THIRD_429, ALL_429, TENTH_HANGS, KILLED)


def suffer(
    faults: Sequence[Fault],
    contestants: Sequence[Contestant],
    vendor: RemoteStandIn,
    folder: Path,
    pages: int,
    slots: int,
) -> list[Row]:
    """Every fault to every tool, one after the other."""
    pdf = pdfs.mixed_pdf(folder / "faults.pdf", 0, pages)
    rows = []
    for number, fault in enumerate(faults):
        for contestant in contestants:
            prepare(vendor, contestant)
            fault.strike(vendor)
            place = folder / f"fault-{number}-{contestant.name}"
            rows.append(_one(fault, contestant, vendor, place, pdf, pages, slots))
    return rows


def _one(
    fault: Fault,
    contestant: Contestant,
    vendor: RemoteStandIn,
    place: Path,
    pdf: Path,
    pages: int,
    slots: int,
) -> Row:
    job = job_for(pdf, place, vendor, slots)
    notes = []
    answered: set[str] = set()
    if fault.kills:
        if not run_until_killed(contestant, job, vendor, pages // 2, fault.limit_s):
            notes.append("ended before it could be killed")
        answered = {call.image_mark for call in vendor.calls() if call.status == 200}
    outcome = run(contestant, job, vendor, fault.limit_s)
    if outcome.exit_code is None:
        notes.append(f"stopped, still at it after {fault.limit_s:.0f} s")
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
        "truth": truth(pages - len(outcome.marks), outcome.exit_code, outcome.told),
        "note": "; ".join(filter(None, [*notes, _sources(outcome), outcome.told.note])),
    }


def _sources(outcome: Outcome) -> str:
    """Pages by source, where a tool tells them and not all are the model's."""
    by_source = outcome.told.sources
    if set(by_source) <= {"ai"}:
        return ""
    return ", ".join(f"{count} {source}" for source, count in sorted(by_source.items()))
