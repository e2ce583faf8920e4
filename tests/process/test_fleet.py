"""One document and several workers: the slots of all, and no more calls than are allowed."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.worker import Replayer

from quire.contracts.names import route_queue, workflow_id
from quire.temporal.converter import DATA_CONVERTER
from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn
from workflows.document.workflow import DocumentWorkflow

WORKERS, SLOTS = 3, 4
RATE, PAGES = 4, 32


def test_one_document_uses_the_slots_of_all_workers(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """More at once than one worker hands out ahead, and never more than all may make."""
    vendor.behave(vendor_answers_late(1.0))
    tool = tool.also(ROUTE_CHAIN="openai:gpt-6.1-sol", MAX_INFLIGHT_PER_MODEL=str(SLOTS))
    document = pdfs.mixed_pdf(tmp_path / "long.pdf", 0, 96)
    with Cluster(tmp_path / "cluster") as cluster:
        for _ in range(WORKERS):
            cluster.start_worker(tool)
        ran = tool.process(document, "--deadline", "5m", TEMPORAL_ADDRESS=cluster.address)
    assert ran.sources() == {"ai": 96}
    assert vendor.max_concurrent() == WORKERS * SLOTS


async def test_rate_holds_for_all_workers_together(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """By the server's own clock: it takes as long to hand all out as the rate says."""
    tool = tool.also(
        ROUTE_CHAIN="openai:gpt-6.1-sol",
        MAX_INFLIGHT_PER_MODEL="8",
        MAX_RATE_PER_MODEL=str(RATE),
    )
    document = pdfs.mixed_pdf(tmp_path / "long.pdf", 0, PAGES)
    with Cluster(tmp_path / "cluster") as cluster:
        for _ in range(2):
            cluster.start_worker(tool)
        asked = ("--deadline", "5m", "--job-id", "rated")
        ran = await asyncio.to_thread(
            tool.process, document, *asked, TEMPORAL_ADDRESS=cluster.address
        )
        client = await Client.connect(cluster.address)
        handle = client.get_workflow_handle(workflow_id("rated"))
        starts = starts_on((await handle.fetch_history()).events, "openai")
    assert ran.sources() == {"ai": PAGES}
    assert len(starts) == len(vendor.calls()) == PAGES
    # Hand-outs that were held up may come close together afterwards, so the whole is measured: a
    # rate for each worker would be done in half of this time.
    assert starts[-1] - starts[0] >= (PAGES - 2 * RATE) / RATE


async def test_attempts_that_end_together_lose_nothing(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """A whole window of calls is answered at one moment. Where the server gives up the task that is
    open then (it keeps 100 events for it), the task is done again, and the history replays."""
    vendor.behave(vendor_answers_late(60))
    tool = tool.also(
        ROUTE_CHAIN="openai:gpt-6.1-sol",
        MAX_INFLIGHT_PER_MODEL="64",
        PAGE_WINDOW="64",
        REQUEST_TIMEOUT="90s",
    )
    document = pdfs.mixed_pdf(tmp_path / "long.pdf", 0, 100)
    with Cluster(tmp_path / "cluster") as cluster:
        cluster.start_worker(tool)
        asked = ("--json", "--deadline", "5m", "--job-id", "together")
        process = tool.start("process", document, *asked, TEMPORAL_ADDRESS=cluster.address)
        await asyncio.to_thread(vendor.wait_for_calls, 64, timeout=90)
        vendor.release()
        out, err = await asyncio.to_thread(process.communicate, timeout=90)
        client = await Client.connect(cluster.address)
        handle = client.get_workflow_handle(workflow_id("together"))
        history = await handle.fetch_history()
    assert process.returncode == 0, err
    assert [page["source"] for page in json.loads(out)["pages"]] == ["ai"] * 100
    assert len(vendor.calls()) == 100, "and no call is made twice"
    await Replayer(workflows=[DocumentWorkflow], data_converter=DATA_CONVERTER).replay_workflow(
        history
    )


def starts_on(events: Sequence[HistoryEvent], provider: str) -> list[float]:
    """When each attempt on the provider's queues was handed to a worker."""
    queues = {
        event.event_id: event.activity_task_scheduled_event_attributes.task_queue.name
        for event in events
    }
    return sorted(
        event.event_time.ToMilliseconds() / 1000
        for event in events
        if route_queue(provider, "")
        in queues.get(event.activity_task_started_event_attributes.scheduled_event_id, "")
    )
