"""Running a tool to its end, to our limit, or to its violent death."""

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench.peers.contest import Claim, Contestant, Job
from bench.peers.page_marks import marks_in
from bench.usage import PeakTree, cpu_of
from testing.cluster import children_of, kill
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.calls import Call, most_at_once
from testing.vendor.process import StandInProcess

LATENCY_S = 0.3
LOG = "log.txt"


@dataclass(frozen=True)
class Outcome:
    """What one command did; no exit code when it had to be stopped at the limit."""

    exit_code: int | None
    seconds: float
    peak_bytes: int | None
    # Of the stand-in vendor: larger pictures cost it more.
    vendor_cpu_s: float
    calls: list[Call]
    marks: frozenset[str]
    claim: Claim

    @property
    def at_once(self) -> int:
        return most_at_once(self.calls)

    @property
    def calls_span_s(self) -> float:
        """From the first call's start to the last one's end."""
        ended = [call.ended for call in self.calls if call.ended is not None]
        return max(ended) - min(call.started for call in self.calls) if ended else 0.0


def job_for(pdf: Path, folder: Path, vendor: StandInProcess, slots: int) -> Job:
    """A job in a new folder."""
    job = Job(pdf, folder, vendor.openai_url, vendor.anthropic_url, slots)
    job.out.mkdir(parents=True)
    return job


def prepare(vendor: StandInProcess, contestant: Contestant) -> None:
    """A vendor that answers every page after the same time."""
    vendor.reset()
    vendor.behave(vendor_answers_late(LATENCY_S, contestant.answer))


def run(contestant: Contestant, job: Job, vendor: StandInProcess, limit_s: float) -> Outcome:
    """Run the command; past the limit it is stopped with all that it started."""
    earlier, vendor_cpu = len(vendor.calls()), cpu_of(vendor.pid)
    started = time.monotonic()
    process = start(contestant, job)
    code: int | None = None
    try:
        with PeakTree(process.pid) as peak, contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(limit_s)
        seconds = time.monotonic() - started
    finally:
        kill_tree(process)
    return Outcome(
        code,
        seconds,
        peak.bytes,
        cpu_of(vendor.pid).since(vendor_cpu).total,
        vendor.calls()[earlier:],
        frozenset(marks_in(job.out)),
        claim_of(contestant, job),
    )


def claim_of(contestant: Contestant, job: Job) -> Claim:
    """What its result and its log say. A killed tool may have left half of a file: then it has
    named nothing, which must not end the measurement of all the others."""
    try:
        return contestant.claim(job, (job.folder / LOG).read_text(errors="replace"))
    except Exception as error:
        return Claim(note=f"its result cannot be read ({type(error).__name__})")


def run_until_killed(
    contestant: Contestant, job: Job, vendor: StandInProcess, after_calls: int, limit_s: float
) -> bool:
    """Kill the command once so many calls are answered; False when it ended before.

    Calls go in waves. The kill comes half a wave after the answers, which is neither the worst
    moment (answers on their way) nor the best (the next ones are due).
    """
    process = start(contestant, job)
    try:
        until = time.monotonic() + limit_s
        while process.poll() is None and time.monotonic() < until:
            if sum(1 for call in vendor.calls() if call.status == 200) >= after_calls:
                time.sleep(LATENCY_S / 2)
                return True
            time.sleep(0.02)
        return False
    finally:
        kill_tree(process)


def start(contestant: Contestant, job: Job) -> subprocess.Popen[bytes]:
    with (job.folder / LOG).open("ab") as log:
        return subprocess.Popen(
            contestant.command(job),
            env=contestant.environment(job),
            cwd=job.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """The command first, so that it brings nothing back, then its group and all below it."""
    below = children_of(process.pid)
    process.kill()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in below:
        kill(pid)
    process.wait()
