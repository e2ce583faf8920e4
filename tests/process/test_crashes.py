"""Processes die at any moment: the document finishes, complete, and nothing is bought twice."""

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.service import RPCError
from temporalio.worker import Replayer

from quire.contracts.names import workflow_id
from quire.jobs.handles import handle_of
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.converter import DATA_CONVERTER
from testing import pdfs
from testing.cluster import Cluster, children_of, kill
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.calls import Call
from testing.vendor.standin import StandIn
from workflows.document.workflow import DocumentWorkflow


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    # A suggestion to continue as new that comes soon makes short documents behave like long ones.
    config = {"limit.historyCount.suggestContinueAsNew": "150"}
    with Cluster(tmp_path / "cluster", config) as running:
        yield running


def begin(tool: Tool, cluster: Cluster, source: Path, *arguments: str) -> subprocess.Popen[str]:
    return tool.start(
        "process",
        source,
        "--json",
        "--deadline",
        "2m",
        *arguments,
        TEMPORAL_ADDRESS=cluster.address,
    )


def end(process: subprocess.Popen[str]) -> Ran:
    out, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    return Ran(process.returncode, out, err, 0.0)


def stored_pages(tool: Tool) -> set[int]:
    """The pages whose answer is in the store."""
    return {int(path.name[:6]) for path in (tool.state / "store" / "answers").rglob("*.json")}


def page_of(call: Call) -> int:
    found = re.search(r"page (\d+) of", call.user)
    assert found, call.user
    return int(found[1])


def bought_twice(vendor: StandIn) -> list[str]:
    """Pages that were asked about again after an answer to them had come."""
    answered = Counter(
        call.user.split(".")[0]
        for call in vendor.calls()
        if call.status == 200 and not call.aborted
    )
    return [page for page, count in answered.items() if count > 1]


async def replay_all(cluster: Cluster, job_id: str) -> None:
    """A worker that takes the document over must come to the same decisions."""
    client = await connect(Settings(), cluster.address)
    replayer = Replayer(workflows=[DocumentWorkflow], data_converter=DATA_CONVERTER)
    async for run in client.list_workflows(f"WorkflowId = '{workflow_id(job_id)}'"):
        handle = client.get_workflow_handle(run.id, run_id=run.run_id)
        await replayer.replay_workflow(await handle.fetch_history())


@pytest.mark.long
async def test_document_survives_its_worker(
    tool: Tool, vendor: StandIn, cluster: Cluster, forty: Path
) -> None:
    vendor.behave(vendor_answers_late(0.3))
    first = cluster.start_worker(tool)
    process = begin(tool, cluster, forty)
    vendor.wait_for_calls(15, timeout=60)
    first.send_signal(signal.SIGKILL)
    first.wait()
    await asyncio.sleep(0.5)  # its last calls reach the vendor
    before, stored = len(vendor.calls()), stored_pages(tool)
    cluster.start_worker(tool)
    ran = end(process)
    assert ran.sources() == {"ai": 40}
    await replay_all(cluster, ran.json["job_id"])
    # Also what the dead worker stored and could not report was bought by this document.
    answers = [json.loads((tool.state / "store" / p["answer"]).read_text()) for p in ran.pages]
    assert [page["usage"] for page in ran.pages] == [answer["usage"] for answer in answers]
    assert not any(page["reused"] for page in ran.pages)
    status = tool.run("status", ran.json["job_id"], "--json", TEMPORAL_ADDRESS=cluster.address)
    assert status.code == 0, status.err
    read = sum(answer["usage"]["input_tokens"] for answer in answers)
    assert status.json["progress_detail"]["input_tokens"] == read
    # What was on its way when the worker died is asked for again, once; nothing stored is.
    later = [page_of(call) for call in vendor.calls()[before:]]
    assert stored
    assert sorted(later) == sorted(set(range(1, 41)) - stored)


@pytest.mark.long
async def test_question_to_a_lost_worker_changes_no_decision(
    tool: Tool, vendor: StandIn, cluster: Cluster, forty: Path
) -> None:
    """It waits for the lost worker, and reaches the next one in the midst of a task's events."""
    vendor.behave(vendor_answers_late(1))
    first = cluster.start_worker(tool)
    # Nobody else asks, so that no task is one of questions alone.
    arguments = ["process", forty, "--json", "--job-id", "asked", "--deadline", "2m", "--detach"]
    assert tool.run(*arguments, TEMPORAL_ADDRESS=cluster.address).code == 0
    vendor.wait_for_calls(12, timeout=60)
    await asyncio.sleep(0.5)  # every call is on its way, and the workflow waits
    first.send_signal(signal.SIGKILL)
    first.wait()
    client = await connect(Settings(), cluster.address)
    asked = handle_of(client, "asked").query(
        DocumentWorkflow.status, rpc_timeout=timedelta(seconds=60)
    )
    asking = asyncio.create_task(asked)
    await asyncio.to_thread(cluster.start_worker, tool)
    with contextlib.suppress(RPCError):  # the server may also give it up
        assert (await asking).status == "running"
    result = await handle_of(client, "asked").result()
    assert result.metadata.ai_pages_succeeded == 40
    await replay_all(cluster, "asked")


def test_deploy_fails_no_page(tool: Tool, vendor: StandIn, cluster: Cluster, forty: Path) -> None:
    vendor.behave(vendor_answers_late(0.5))
    old = cluster.start_worker(tool)
    process = begin(tool, cluster, forty)
    vendor.wait_for_calls(8, timeout=60)
    cluster.start_worker(tool)
    old.send_signal(signal.SIGTERM)
    assert old.wait(timeout=60) == 0
    ran = end(process)
    assert ran.sources() == {"ai": 40}
    assert bought_twice(vendor) == []
    assert len(vendor.calls()) == 40, "what was in flight was finished"


def test_document_survives_server_and_children(
    tool: Tool, vendor: StandIn, cluster: Cluster, forty: Path
) -> None:
    vendor.behave(vendor_answers_late(0.3))
    worker = cluster.start_worker(tool)
    process = begin(tool, cluster, forty)
    vendor.wait_for_calls(10, timeout=60)
    for child in children_of(worker.pid):
        kill(child)
    cluster.kill_server()
    time.sleep(0.5)
    cluster.start_server()
    ran = end(process)
    assert ran.sources() == {"ai": 40}
    assert bought_twice(vendor) == []


async def test_long_document_continues_as_new(
    tool: Tool, vendor: StandIn, cluster: Cluster, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(0.05))
    cluster.start_worker(tool)
    long = pdfs.mixed_pdf(tmp_path / "long.pdf", 10, 120)
    process = begin(tool, cluster, long, "--job-id", "long")
    vendor.wait_for_calls(90, timeout=90)
    status = tool.run("status", "long", "--json", TEMPORAL_ADDRESS=cluster.address).json
    assert status["total_items"] == 130
    assert status["completed_items"] >= 10 + 60, "what earlier runs did is remembered"
    ran = end(process)
    assert ran.sources() == {"mupdf": 10, "ai": 120}
    assert len(vendor.calls()) == 120
    client = await connect(Settings(), cluster.address)
    runs = [
        execution
        async for execution in client.list_workflows(f"WorkflowId = '{workflow_id('long')}'")
    ]
    assert len(runs) > 1
    started = json.loads(ran.out)["started_at"]
    assert started < max(run.start_time for run in runs).isoformat()


def test_two_documents_on_one_worker_share_its_slots(
    tool: Tool, vendor: StandIn, cluster: Cluster, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(0.3))
    cluster.start_worker(tool)
    sources = [pdfs.mixed_pdf(tmp_path / f"{pages}.pdf", 0, pages) for pages in (9, 10)]
    for process in [begin(tool, cluster, source) for source in sources]:
        assert set(end(process).sources()) == {"ai"}
    assert len(vendor.calls()) == 19
    for model in ("gpt-6.1-sol", "gpt-6.1-terra", "claude-sonnet-5-5"):
        assert vendor.max_concurrent(model) == 2, "full, and never over"
