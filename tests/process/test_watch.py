"""A document that is stuck is found, started again once, and keeps what was paid for."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus

from quire.contracts.names import HEALED_MEMO
from quire.domain.document.deadline import LONGEST_GROWN_S
from quire.temporal.embedded import DYNAMIC_CONFIG
from quire.temporal.open_runs import PROBLEMS
from testing import pdfs
from testing.brick import brick, bricking_worker, poke
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers, vendor_hangs
from testing.vendor.standin import StandIn
from testing.wait import wait_until
from testing.worker import fetch, free_port

pytestmark = [pytest.mark.servers, pytest.mark.long]
PAID = 3
# The second failure of a task comes by its timeout, for which this test need not wait.
MARKED_AT_ONCE = dict.fromkeys(DYNAMIC_CONFIG, "1")


async def test_a_bricked_document_is_healed_once(tmp_path: Path) -> None:
    """`twice` is healed by hand, bricked again, and then left alone; `whole` is healed by the
    schedule and ends well, and who waits for it waits on."""
    whole = pdfs.mixed_pdf(tmp_path / "whole.pdf", 4, 8)
    twice = pdfs.mixed_pdf(tmp_path / "twice.pdf", 2, 4)
    with StandIn() as vendor, Cluster(tmp_path / "cluster", MARKED_AT_ONCE) as cluster:
        tool = Tool(tmp_path / "state", vendor, TEMPORAL_ADDRESS=cluster.address).warmed()
        vendor.behave(vendor_hangs())
        options = ("--job-id", "twice", "--detach", "--pages", "3")
        detached = await asyncio.to_thread(tool.process, twice, *options)
        assert detached.code == 0, detached.err
        async with bricking_worker(tool) as client:
            await brick(client, "twice")
        good = await asyncio.to_thread(cluster.start_worker, tool, WATCH_INTERVAL="1h")
        await poke(client, "twice")
        bricked = await until(client, "twice", is_marked)
        named = await check_documents(tool)
        assert named["detail"] == "twice is stuck: its workflow tasks fail"
        assert "doctor --heal" in named["remedy"]
        healed = await check_documents(tool, "--heal")
        assert healed == {**healed, "ok": True, "detail": "twice was stuck and is started again"}
        again = await until(client, "twice", is_healed)
        assert again != bricked
        status = await asyncio.to_thread(tool.run, "status", "twice", "--json")
        assert status.json["progress_detail"]["healed"] == 1
        good.kill()
        good.wait()

        vendor.behave(vendor_answers(), marker="of 12", first=PAID)
        waiting = tool.start(
            "process", whole, "--json", "--job-id", "whole", "--user", "anna", "--force",
            "--deadline", "5m",
        )  # fmt: skip
        async with bricking_worker(tool) as client:
            await asyncio.to_thread(wait_until, lambda: answered(vendor, "of 12") == PAID)
            await brick(client, "whole")
            await brick(client, "twice")
        vendor.reset()
        vendor.behave(vendor_hangs(), marker="of 6")
        port = free_port()
        settings = {"WATCH_INTERVAL": "3s", "METRICS_ADDRESS": f"127.0.0.1:{port}"}
        await asyncio.to_thread(cluster.start_worker, tool, **settings)
        await poke(client, "twice")
        out, err = await asyncio.to_thread(waiting.communicate, timeout=90)
        assert waiting.returncode == 0, err
        result = json.loads(out)
        assert {page["source"] for page in result["pages"]} == {"mupdf", "ai"}
        assert result["user_id"] == "anna"
        assert result["metadata"]["healed"] == 1
        assert "stuck" in result["metadata"]["warnings"][0]
        assert answered(vendor, "of 12") == 8 - PAID, "what was paid for is not bought again"
        log = cluster.folder / "worker-1.log"
        await asyncio.to_thread(wait_until, lambda: "document_stuck" in log.read_text(), timeout=90)
        left = await check_documents(tool, "--heal")
        assert "also after it was started again" in left["detail"]
        latest = await client.get_workflow_handle("document-twice").describe()
        assert (latest.run_id, latest.status) == (again, WorkflowExecutionStatus.RUNNING)
        last = latest.raw_description.execution_config.workflow_execution_timeout.seconds
        assert last > LONGEST_GROWN_S, "nobody asked for a deadline: it may grow"
        metrics = await asyncio.to_thread(fetch, f"http://127.0.0.1:{port}/metrics")
        assert counted(metrics, "quire_documents_healed_total") == 1
        assert counted(metrics, "quire_stuck_documents_total") > 0
        assert log.read_text().count("document_healed") == 1


async def check_documents(tool: Tool, *options: str) -> dict[str, Any]:
    """What `doctor` says of documents."""
    ran = await asyncio.to_thread(tool.run, "doctor", "--json", *options)
    (found,) = [check for check in ran.json["checks"] if check["name"] == "documents"]
    checked: dict[str, Any] = found
    return checked


def answered(vendor: StandIn, marker: str) -> int:
    return sum(marker in call.user and call.status == 200 for call in vendor.calls())


async def is_marked(found: WorkflowExecutionDescription) -> bool:
    attributes = found.raw_description.workflow_execution_info.search_attributes
    return PROBLEMS in attributes.indexed_fields


async def is_healed(found: WorkflowExecutionDescription) -> bool:
    return await found.memo_value(HEALED_MEMO, default=None) is not None


async def until(
    client: Client,
    job_id: str,
    is_so: Callable[[WorkflowExecutionDescription], Awaitable[bool]],
) -> str:
    """The latest run, once this is so."""
    async with asyncio.timeout(60):
        while True:
            found = await client.get_workflow_handle(f"document-{job_id}").describe()
            if await is_so(found):
                return found.run_id
            await asyncio.sleep(0.2)


def counted(metrics: str, name: str) -> float:
    lines = [line for line in metrics.splitlines() if line.startswith(name)]
    assert lines, f"{name} is not shown"
    return sum(float(line.rpartition(" ")[2]) for line in lines)
