"""A cluster whose workers are gone: every command says so, and no request is lost."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.service import RPCError, RPCStatusCode

from quire.temporal.connect import refused_by_temporal
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import vendor_hangs
from testing.vendor.standin import StandIn
from tests.operations.terminal import run_in_terminal

NOBODY = "No worker with the role workflows runs."


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.fixture
def client(tool: Tool, cluster: Cluster) -> Tool:
    return tool.also(TEMPORAL_ADDRESS=cluster.address)


def interrupt(process: "subprocess.Popen[str]", sent: signal.Signals) -> tuple[str, str]:
    """Send it once the command has said that it waits; what it wrote."""
    assert process.stderr is not None
    said = ""
    while NOBODY not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(sent)
    out, rest = process.communicate(timeout=20)
    assert process.returncode == 130, said + rest
    assert "Traceback" not in rest
    assert rest.startswith("Interrupted. The job is kept"), rest
    return out, said


@pytest.mark.long
def test_commands_say_that_nobody_answers(client: Tool, one_page: Path) -> None:
    process = client.start("process", one_page, "--job-id", "alone", "--json")
    out, said = interrupt(process, signal.SIGTERM)
    assert said.count(NOBODY) == 1
    assert json.loads(out)["job_id"] == "alone"
    waiting = [
        client.start(*command)
        for command in (("watch", "alone"), ("watch", "alone", "--text"), ("retry", "alone"))
    ]
    for command in waiting:
        interrupt(command, signal.SIGINT)


def said_of(status: RPCStatusCode) -> str:
    return refused_by_temporal(RPCError("Timeout expired", status, b"")).info.line()


def test_silence_of_the_server_is_no_refusal() -> None:
    assert "refused" in said_of(RPCStatusCode.PERMISSION_DENIED)
    for status in (
        RPCStatusCode.CANCELLED,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.UNAVAILABLE,
    ):
        assert "did not answer in time" in said_of(status)
        assert "refused" not in said_of(status)


@pytest.mark.long
def test_cancel_is_kept_until_a_worker_comes(
    tool: Tool, client: Tool, cluster: Cluster, mixed: Path
) -> None:
    """Over the death of the server too, which forgets an update that no worker has accepted."""
    assert client.run("process", mixed, "--detach", "--job-id", "off", "--user", "ana").code == 0
    stranger = client.run("cancel", "off", "--user", "bert", "--json")
    assert stranger.code == 4
    assert stranger.json["error"]["code"] == "FORBIDDEN"
    interrupt(client.start("cancel", "off", "--user", "ana"), signal.SIGINT)
    cluster.kill_server()
    cluster.start_server()
    cluster.start_worker(tool)
    ran = client.run("watch", "off", "--json")
    assert ran.json["error"]["reason"] == "CANCELLED", ran.err


@pytest.mark.long
def test_the_last_picture_is_marked_as_old_and_outlives_an_interrupt(
    tool: Tool, client: Tool, cluster: Cluster, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_hangs())
    worker = cluster.start_worker(tool)
    assert client.run("process", mixed, "--detach", "--job-id", "left").code == 0
    recorded = run_in_terminal(
        client,
        80,
        "watch",
        "left",
        steps=(
            ("4/12 pages", lambda _: worker.kill()),
            ("as of ", lambda watching: watching.send_signal(signal.SIGINT)),
        ),
        exit_code=130,
    )
    end = recorded.rpartition("\x1b[2K")[2]
    assert "4/12 pages" in recorded.rpartition("\x1b[1A")[0]
    assert "as of " in recorded
    assert "Interrupted." in end
    assert "as of " in end, "not erased"
