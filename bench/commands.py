"""The two commands that are measured from nothing: the bare script, and the tool itself."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.stage import settings_for
from testing.tool import ROOT, Tool, own_environment
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.process import StandInProcess

WITHIN_S = 600.0


class WrongRun(Exception):
    """A run that did not do the work it was measured for: its time means nothing."""


@dataclass(frozen=True)
class Bare:
    """The bare script: its own seconds from opening the document on, and the whole command's."""

    seconds: float
    wall_s: float
    cpu_s: float
    peak_bytes: int


def bare(source: Path, target: Path, vendor: StandInProcess, slots: int, *, warm: bool) -> Bare:
    """One run; a warm one makes a call more than there are pages, before its clock starts."""
    arguments = [str(source), str(target), vendor.openai_url, str(slots)]
    started = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "bench.bare", *arguments, *(["warm"] if warm else [])],
        cwd=ROOT,
        env=own_environment(),
        check=True,
        stdout=subprocess.PIPE,
        timeout=WITHIN_S,
    )
    wall = time.perf_counter() - started
    return Bare(wall_s=wall, **json.loads(ran.stdout))


def cold(source: Path, folder: Path, vendor: StandInProcess, slots: int) -> float:
    """Seconds of `starter.py process` on a machine that has never seen it: its own server, its
    own worker, and an empty store."""
    tool = Tool(folder, vendor, **settings_for(slots))
    command = ("process", source, "--json", "--deadline", "10m")
    ran = tool.run(*command, timeout=WITHIN_S)
    if ran.code or set(ran.sources()) != {"ai"}:
        raise WrongRun(f"the command ended with {ran.code}: {ran.err.strip()[-200:]}")
    return ran.seconds


def prepare(vendor: StandInProcess, latency: float) -> None:
    """The vendor as it shall be, with no call remembered."""
    vendor.reset()
    vendor.behave(vendor_answers_late(latency))


def check_calls(vendor: StandInProcess, expected: int) -> None:
    """Exactly one call a page: none saved by a store, none made twice."""
    made = len(vendor.calls())
    if made != expected:
        raise WrongRun(f"{made} calls were made, not {expected}")
