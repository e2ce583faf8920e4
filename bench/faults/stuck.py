"""Documents that would be stuck: foreign signals, and decisions that no worker repeats."""

import asyncio
from pathlib import Path
from typing import Any

from temporalio.client import Client

from bench.faults.line import Line
from quire.contracts.names import workflow_id
from testing import pdfs
from testing.brick import brick, bricking_worker, poke
from testing.cluster import Cluster
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers, vendor_answers_late, vendor_hangs
from testing.vendor.standin import StandIn

PAGES = 12
# So many pages are paid for when the document is bricked.
PAID = 5
SIGNALS = ("retry", "cancel", "unheard_of")
INPUTS: tuple[list[Any], ...] = (
    [], [None], [0], [2.5], [True], ["x"], ["1-," * 10_000], [[]], [[[1]]], [{}, {}],
    [{"pages": "x"}], [{"pages": {}}], [{"user_id": []}], [{"unknown": 1}], [1, 2, 3],
)  # fmt: skip


def lines(folder: Path) -> list[Line]:
    """Signals that make no sense, and a bricked document."""
    return [asyncio.run(_foreign_signals(folder)), asyncio.run(_bricked(folder))]


async def _foreign_signals(folder: Path) -> Line:
    """A document gets all of them, from callers who do not own it."""
    pdf = pdfs.mixed_pdf(folder / "signals.pdf", 0, PAGES)
    with StandIn() as vendor, Cluster(folder / "signals") as cluster:
        vendor.behave(vendor_answers_late(2.0))
        tool = Tool(folder / "signals" / "state", vendor, TEMPORAL_ADDRESS=cluster.address)
        cluster.start_worker(tool)
        process = _start(tool, pdf, "signals", "--user", "anna")
        await asyncio.to_thread(vendor.wait_for_calls, 1, timeout=60)
        client = await Client.connect(cluster.address)
        handle = client.get_workflow_handle(workflow_id("signals"))
        for given in INPUTS:
            for name in SIGNALS:
                await handle.signal(name, args=given)
        out, err = await asyncio.to_thread(process.communicate, timeout=100)
        read = _read(Ran(process.returncode, out, err, 0.0))
        repeated = len(vendor.calls()) - PAGES
    tried = len(INPUTS) * len(SIGNALS)
    survived = tried if read == PAGES else 0
    return Line("empty and wrong signals", tried, survived, PAGES - read, repeated)


async def _bricked(folder: Path) -> Line:
    """A document fails every replay when some of its pages are paid for; the watch heals it."""
    pdf = pdfs.mixed_pdf(folder / "bricked.pdf", 0, PAGES)
    with StandIn() as vendor, Cluster(folder / "bricked") as cluster:
        vendor.behave(vendor_hangs())
        vendor.behave(vendor_answers(), first=PAID)
        tool = Tool(folder / "bricked" / "state", vendor, TEMPORAL_ADDRESS=cluster.address)
        process = _start(tool, pdf, "bricked")
        async with bricking_worker(tool) as client:
            await asyncio.to_thread(vendor.wait_for_calls, PAID, timeout=60, ended=True)
            await brick(client, "bricked")
        vendor.reset()
        vendor.behave(vendor_answers_late(0.2))
        await asyncio.to_thread(cluster.start_worker, tool, WATCH_INTERVAL="3s")
        await poke(client, "bricked")
        out, err = await asyncio.to_thread(process.communicate, timeout=100)
        ran = Ran(process.returncode, out, err, 0.0)
        read, repeated = _read(ran), len(vendor.calls()) - (PAGES - PAID)
    healed = ran.json["metadata"]["healed"] if read else 0
    survived = int(read == PAGES and healed == 1)
    note = f"healed {healed} time(s)"
    return Line("bricked document, healed", 1, survived, PAGES - read, repeated, note)


def _start(tool: Tool, pdf: Path, job_id: str, *options: str) -> Any:
    return tool.start("process", pdf, "--json", "--job-id", job_id, "--deadline", "90s", *options)


def _read(ran: Ran) -> int:
    return ran.sources().get("ai", 0) if ran.code == 0 else 0
