"""A tool is run to its end, stopped at the limit, or killed with all that it started."""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.peers.budget import Budget
from bench.peers.contest import ANSWER, Claim, Job
from bench.peers.faults import KILLED, suffer, try_well
from bench.peers.run_tool import job_for, prepare, run
from testing.vendor.process import StandInProcess

# Asks for two pages, one after the other, and writes both answers at the end.
READS = """
import json, pathlib, sys, urllib.request
said = []
for page in ("AAAA", "AAAB"):
    url = {"url": f"data:image/png;base64,{page}"}
    content = [{"type": "image_url", "image_url": url}]
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    call = urllib.request.Request(f"{sys.argv[2]}/chat/completions", json.dumps(body).encode())
    answer = json.load(urllib.request.urlopen(call))
    said.append(answer["choices"][0]["message"]["content"])
(pathlib.Path(sys.argv[1]) / "text.md").write_text("".join(said))
"""
# Starts a process that would outlive it, prints its id, and waits.
LINGERS = """
import pathlib, subprocess, sys
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
(pathlib.Path(sys.argv[1]) / "child").write_text(str(child.pid))
child.wait()
"""


@dataclass(frozen=True)
class Script:
    """A contestant of a few lines."""

    code: str
    name: str = "script"
    answer: str = ANSWER

    def command(self, job: Job) -> list[str]:
        return [sys.executable, "-c", self.code, str(job.out), job.openai_url]

    def environment(self, job: Job) -> dict[str, str]:
        return dict(os.environ)

    def imports_s(self) -> float:
        return 0.0

    def document_s(self, job: Job) -> float | None:
        return None

    def claim(self, job: Job, log: str) -> Claim:
        return Claim()


@pytest.fixture(scope="module")
def vendor() -> Iterator[StandInProcess]:
    with StandInProcess() as vendor:
        yield vendor


def test_tool_is_run_to_its_end(vendor: StandInProcess, tmp_path: Path) -> None:
    script = Script(READS)
    prepare(vendor, script)
    outcome = run(script, job_for(tmp_path / "x.pdf", tmp_path / "job", vendor, 8), vendor, 30)
    assert outcome.exit_code == 0
    assert outcome.marks == {call.image_mark for call in outcome.calls}
    assert (len(outcome.calls), outcome.at_once) == (2, 1)
    assert 0.6 < outcome.calls_span_s < outcome.seconds
    assert (outcome.peak_bytes or 0) > 1_000_000


def test_tool_is_stopped_with_all_that_it_started(vendor: StandInProcess, tmp_path: Path) -> None:
    script = Script(LINGERS)
    prepare(vendor, script)
    job = job_for(tmp_path / "x.pdf", tmp_path / "job", vendor, 8)
    outcome = run(script, job, vendor, 2)
    assert outcome.exit_code is None
    child = Path("/proc") / (job.out / "child").read_text() / "cmdline"
    until = time.monotonic() + 5
    while child.exists() and b"sleep" in child.read_bytes():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_what_a_killed_tool_asks_again_is_counted(vendor: StandInProcess, tmp_path: Path) -> None:
    (row,) = suffer([KILLED], [Script(READS)], vendor, tmp_path, 2, 8, Budget())
    assert (row["recovered"], row["pages"], row["exit_code"]) == (2, 2, 0)
    assert (row["repeated"], row["calls"]) == (1, 4)
    assert (row["truth"], row["note"]) == ("none is missing", "")


def test_tool_that_reads_here_may_suffer(vendor: StandInProcess, tmp_path: Path) -> None:
    reader = Script(READS)
    assert try_well([reader], vendor, tmp_path, 8, Budget()) == ([reader], [])
