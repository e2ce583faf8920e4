"""A job that waits for something missing says what: a role, a key, a namespace, a build."""

import base64
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.temporal.embedded import find_binary
from testing.cluster import Cluster
from testing.spoken import Spoken
from testing.tool import ROOT, Ran, Tool
from testing.vendor.behaviours import vendor_hangs
from testing.vendor.standin import StandIn
from testing.wait import wait_until

ROLE = "No worker with the role {} runs. Start one: `worker.py --roles {}`."
OTHER_PROGRAM = """
import asyncio, sys
from datetime import timedelta
from temporalio import workflow
from temporalio.client import Client
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
@workflow.defn
class Other:
    @workflow.run
    async def run(self) -> None: pass
async def main() -> None:
    beating = timedelta(seconds=1)
    runtime = Runtime(telemetry=TelemetryConfig(), worker_heartbeat_interval=beating)
    client = await Client.connect(sys.argv[1], runtime=runtime)
    await Worker(
        client, task_queue="quire", workflows=[Other], workflow_runner=UnsandboxedWorkflowRunner()
    ).run()
asyncio.run(main())
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.fixture
def client(tool: Tool, cluster: Cluster) -> Tool:
    return tool.also(TEMPORAL_ADDRESS=cluster.address)


def role(name: str) -> str:
    return ROLE.format(name, name)


def key(name: str) -> str:
    return f"{name}:{base64.b64encode(name.encode() * 16).decode()}"


def waiting_for(client: Tool, job: str) -> str:
    found: list[str] = client.run("status", job, "--json").json["waiting_for"]
    return "\n".join(found)


def failing(client: Tool) -> dict[str, Any]:
    checks = client.run("doctor", "--json").json["checks"]
    return {check["detail"]: check["remedy"] for check in checks if check["ok"] is False}


def test_a_document_names_each_thing_that_it_waits_for(
    tool: Tool, client: Tool, cluster: Cluster, mixed: Path
) -> None:
    """One role after the other is started, the last without a vendor's key; then all die."""
    job = ("process", mixed, "--job-id", "d1", "--json", "--deadline", "5m")
    process = Spoken(client.start(*job))
    process.wait_for(role("workflows"))
    status = client.run("status", "d1", "--json")
    assert status.json["error"]["reason"] == "NO_WORKER"
    assert "the role workflows" in status.json["error"]["message"]
    assert f"no worker serves queue {'quire'}" in failing(client)

    cluster.start_worker(tool, "--roles", "workflows")
    process.wait_for(role("documents"))
    assert "the role documents" in waiting_for(client, "d1")

    cluster.start_worker(tool, "--roles", "documents")
    process.wait_for("and OPENAI_API_KEY: `worker.py --roles ai`.")
    assert "No worker serves anthropic:" in waiting_for(client, "d1")
    shown = client.run("status", "d1").out
    assert "No worker serves openai:" in shown
    unserved = [detail for detail in failing(client) if "quire-ai-openai" in detail]
    assert unserved, "doctor looks at the queues of models"

    cluster.start_worker(tool, "--roles", "ai", OPENAI_BASE_URL="")
    assert process.end() == 0, process.lines
    details = [check["detail"] for check in client.run("doctor", "--json").json["checks"]]
    assert any("quire-documents is served by 1 worker" in detail for detail in details)
    assert any("quire-ai-anthropic" in d and "is served by 1 worker" in d for d in details)

    for worker in cluster.workers:
        worker.kill()
    wait_until(lambda: "no worker serves queue quire-documents" in failing(client), timeout=40)


def test_a_namespace_that_does_not_exist_is_named(
    client: Tool, cluster: Cluster, one_page: Path
) -> None:
    astray = client.also(TEMPORAL_NAMESPACE="astray")
    worker = subprocess.run(
        [sys.executable, str(ROOT / "worker.py")],
        env=astray.environment({}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    said = [
        worker.stderr,
        astray.process(one_page).err,
        astray.run("status", "d1").err,
        astray.run("cancel", "d1").err,
        astray.run("doctor").out,
    ]
    for words in said:
        whole = " ".join(words.split())
        assert "There is no namespace 'astray' on the Temporal server." in whole
        assert "create -n astray" in whole
    assert worker.returncode != 0


def test_keys_that_differ_are_named(
    tool: Tool, client: Tool, cluster: Cluster, one_page: Path
) -> None:
    """The workers cannot read what the client wrote, or the client what the workers wrote."""
    sealed = {"ENCRYPT_PAYLOADS": "true"}
    cluster.start_worker(tool, ENCRYPTION_KEYS=key("k1"), **sealed)
    other = client.also(ENCRYPTION_KEYS=key("k2"), **sealed)
    process = Spoken(other.start("process", one_page, "--job-id", "d1"))
    process.wait_for("their ENCRYPTION_KEYS lack its key")
    status = other.run("status", "d1", "--json")
    assert status.json["error"]["reason"] == "NO_KEY"
    process.process.kill()

    right = client.also(ENCRYPTION_KEYS=key("k1"), **sealed)
    assert right.process(one_page, "--job-id", "d2").code == 0
    for blind, why in ((client, "ENCRYPTION_KEYS is not set here"), (other, "The key 'k1'")):
        for command in ("status", "watch", "result"):
            ran = blind.run(command, "d2", "--json")
            assert ran.json["error"]["reason"] == "SEALED", ran.err
            assert why in ran.err
            assert "Traceback" not in ran.err
    # Who has the key reads what is encrypted, also without encrypting.
    assert client.run("status", "d2", ENCRYPTION_KEYS=key("k1")).code == 0


def test_builds_and_code_that_workers_lack_are_named(
    tool: Tool, client: Tool, cluster: Cluster, vendor: StandIn, mixed: Path
) -> None:
    def started(job: str) -> Spoken:
        return Spoken(client.start("process", mixed, "--job-id", job, "--deadline", "5m"))

    def make_current(build: str) -> None:
        command = ["worker", "deployment", "set-current-version", "--deployment-name", "quire"]
        to = ["--build-id", build, "--yes", "--address", cluster.address]

        def accepted() -> bool:
            ran = subprocess.run([find_binary(), *command, *to], capture_output=True, timeout=30)
            return ran.returncode == 0

        wait_until(accepted)

    process = started("d1")
    foreign = subprocess.Popen([sys.executable, "-c", OTHER_PROGRAM, cluster.address])
    try:
        process.wait_for("The workers do not know DocumentWorkflow")
        assert _reason(client.run("status", "d1", "--json")) == "WORKER_CODE"
    finally:
        foreign.kill()
        foreign.wait()
        process.process.kill()

    # Another job: the server waits longer and longer before it has a failed task tried again.
    vendor.behave(vendor_hangs())
    process = started("d2")
    worker = cluster.start_worker(tool, WORKER_BUILD_ID="b1")
    process.wait_for("Workers of build b1 run, but none is the current version", timeout=90)
    make_current("b1")
    wait_until(lambda: client.run("status", "d2", "--json").json.get("total_items"))
    worker.kill()
    worker.wait()
    cluster.start_worker(tool, WORKER_BUILD_ID="b2")
    make_current("b2")
    process.wait_for("The job waits for workers of build 'b1'; workers have b2.")
    assert _reason(client.run("status", "d2", "--json")) == "NO_BUILD"
    process.process.kill()


def _reason(ran: Ran) -> str:
    reason: str = ran.json["error"]["reason"]
    return reason
