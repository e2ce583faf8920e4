"""One document and several workers: the slots of all, and no more calls than are allowed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from quire.contracts.names import route_queue, workflow_id
from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn

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
    """By the server's own clock: what it hands to two workers is no more than the rate allows."""
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
    for first in starts:
        assert sum(first <= start < first + 2 for start in starts) <= 3 * RATE
    assert starts[-1] - starts[0] >= (PAGES - 2 * RATE) / RATE


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
