"""Documents of thousands of pages: all done, and the worker's peak memory beside it."""

import asyncio
import time
from pathlib import Path

from bench.faults.line import Line
from bench.usage import megabytes, own_peak
from quire.contracts.names import workflow_id
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.standin import StandIn

# Name, pages of text, pages for a model.
SIZES = (("500", 450, 50), ("5,000", 5000, 0), ("5,000 mixed", 4500, 500))


def lines(folder: Path) -> list[Line]:
    """5,000 pages against 500."""
    found = []
    peaks: dict[str, float] = {}
    for name, text, vision in SIZES:
        with StandIn() as vendor, Cluster(folder / f"giant-{name}") as cluster:
            tool = Tool(folder / f"giant-{name}" / "state", vendor)
            worker = cluster.start_worker(tool)
            source = pdfs.mixed_pdf(folder / "giant.pdf", text, vision)
            started = time.monotonic()
            command = ("process", source, "--json", "--deadline", "20m")
            ran = tool.run(*command, timeout=1200.0, TEMPORAL_ADDRESS=cluster.address)
            seconds = time.monotonic() - started
            peaks[name] = megabytes(own_peak(worker.pid)) or 0.0
            runs = asyncio.run(_count_runs(cluster.address, ran.json["job_id"]))
        done = ran.code == 0 and ran.json["metadata"]["pages_done"] == text + vision
        lost = 0 if done else text + vision
        ratio = peaks[name] / (peaks["500"] or 1.0)
        memory = f"worker's peak {peaks[name]:.0f} MB ({ratio:.2f} of 500 pages')"
        note = f"{seconds:.0f} s in {runs} runs, {memory}"
        found.append(Line(f"{name} pages", 1, int(done), lost, 0, note))
    return found


async def _count_runs(address: str, job_id: str) -> int:
    """How many runs the document's workflow took."""
    client = await connect(Settings(), address)
    query = f"WorkflowId = '{workflow_id(job_id)}'"
    return len([run async for run in client.list_workflows(query)])
