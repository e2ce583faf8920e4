"""A terminal that is closed: SIGHUP, and nothing left to write to."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.cluster import children_of
from testing.embedded import server_of
from testing.terminal import Terminal, alive
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_hangs
from testing.vendor.standin import StandIn
from testing.wait import wait_until


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def test_a_command_leaves_in_order_and_keeps_its_job(
    tool: Tool, vendor: StandIn, mixed: Path, scratch: Path
) -> None:
    tool = tool.cold().also(TMPDIR=str(scratch))
    vendor.behave(vendor_hangs())
    command = [str(ROOT / "starter.py"), "process", str(mixed), "--job-id", "kept"]
    terminal = Terminal(command, tool.environment({}))
    wait_until(lambda: terminal.shows("kept") and len(vendor.calls()) >= 2)
    family = [*children_of(terminal.process.pid), server_of(tool).pid]
    assert len(family) >= 4, "the server, the fork server, its tracker and a child"
    terminal.close()
    assert terminal.process.wait(30) == 130
    wait_until(lambda: not any(map(alive, family)), timeout=10)
    assert [*scratch.iterdir()] == []
    assert not (tool.state / "server.json").exists()

    vendor.reset()
    vendor.behave(vendor_answers_late(30))
    deaf = ignoring_hangups(lambda: tool.start("process", mixed, "--json", "--job-id", "kept"))
    vendor.wait_for_calls(2, timeout=60)
    deaf.send_signal(signal.SIGHUP)
    vendor.release()
    out, err = deaf.communicate(timeout=90)
    assert deaf.returncode == 0, "as with `nohup`: " + err
    assert '"ai_pages_succeeded": 8' in out


def ignoring_hangups(start: Callable[[], "subprocess.Popen[str]"]) -> "subprocess.Popen[str]":
    """A program begun as `nohup` begins it, which also inherits that."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        return start()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_worker_stops_in_order(tool: Tool, scratch: Path) -> None:
    tool = tool.cold().also(TMPDIR=str(scratch))
    worker = Terminal([str(ROOT / "worker.py")], tool.environment({}))
    wait_until(lambda: worker.shows("worker_started"))
    server = server_of(tool).pid
    worker.close()
    assert worker.process.wait(40) == 0
    wait_until(lambda: not alive(server), timeout=10)
    assert [*scratch.iterdir()] == []
