"""A process that is forked from the warm one is like one that was started from nothing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from testing.warm_start import WarmProcess

PROGRAM = """
import json, os, signal, sys, tempfile, threading
print(json.dumps({
    "arguments": sys.argv[1:], "environment": dict(os.environ), "name": __name__,
    "folder": os.getcwd(), "temporary": tempfile.gettempdir(), "session": os.getsid(0),
    "threads": threading.active_count(), "interrupt": repr(signal.getsignal(signal.SIGINT)),
    "child": repr(signal.getsignal(signal.SIGCHLD)), "open": sorted(os.listdir("/proc/self/fd")),
}), flush=True)
print("an error", file=sys.stderr)
if "wait" in sys.argv:
    signal.pause()
sys.exit(7)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def start(
    kind: type[subprocess.Popen[str]], path: Path, *arguments: str, env: Mapping[str, str]
) -> subprocess.Popen[str]:
    return kind(
        [sys.executable, str(path), *arguments],
        env=dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def test_a_warm_process_is_like_a_cold_one(program: Path, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "ONLY": "here"}
    # Set by the interpreter itself where the environment names no locale.
    set_by_python = {"LC_CTYPE"}
    seen = []
    for kind in (subprocess.Popen[str], WarmProcess[str]):
        process = start(kind, program, "one", "two words", env=env)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (7, "an error\n")
        said = json.loads(out)
        assert said.pop("session") == process.pid
        said["environment"] = {
            name: value for name, value in said["environment"].items() if name not in set_by_python
        }
        seen.append(said)
    assert seen[0] == seen[1]
    assert seen[1]["arguments"] == ["one", "two words"]
    assert seen[1]["environment"] == env


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_its_end_is_known(program: Path, sent: signal.Signals) -> None:
    process = start(WarmProcess[str], program, "wait", env=os.environ)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("{")
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.1)
    process.send_signal(sent)
    process.communicate(timeout=60)
    assert process.returncode == process.wait() == process.poll() == -sent
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_output_goes_where_it_was_sent(program: Path, tmp_path: Path) -> None:
    place = tmp_path / "log"
    with place.open("wb") as log:
        kind: type[subprocess.Popen[bytes]] = WarmProcess
        process = kind([sys.executable, str(program)], env=dict(os.environ), stdout=log, stderr=log)
        assert process.wait(60) == 7
        assert not log.closed
    assert place.read_text().endswith("an error\n")
