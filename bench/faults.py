"""`make faults`: does the real thing to real processes, and prints what was lost.

Each line is a kind of fault: how often it was tried, how often the document survived, how many
pages were lost, and how many calls were made for pages whose answer was already stored.
"""

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.hostile_files import hostile_files, try_files
from bench.storm import rage
from bench.usage import megabytes, own_peak
from quire.contracts.names import workflow_id
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.cluster import Cluster, children_of, kill, open_to_others
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_fails
from testing.vendor.standin import StandIn

PAGES = 60
SEED = 20


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    fault: str
    tried: int
    survived: int
    pages_lost: int
    calls_repeated: int
    note: str = ""


def stored_pages(tool: Tool) -> set[int]:
    """Pages whose answer is in the store at this moment."""
    answers = (tool.state / "store" / "answers").rglob("*.json")
    return {int(path.name.split("-")[0]) for path in answers}


def killed(what: str, tries: int, folder: Path, chance: random.Random) -> Line:
    """Kill one kind of process at random points of a document."""
    survived = lost = repeated = 0
    source = pdfs.mixed_pdf(folder / "sixty.pdf", 0, PAGES)
    for number in range(tries):
        with StandIn() as vendor, Cluster(folder / f"{what}-{number}") as cluster:
            vendor.behave(vendor_answers_late(0.2))
            tool = Tool(folder / f"{what}-{number}" / "state", vendor)
            cluster.start_worker(tool)
            command = ("process", source, "--json", "--deadline", "3m", "--job-id", "victim")
            process = tool.start(*command, TEMPORAL_ADDRESS=cluster.address)
            vendor.wait_for_calls(chance.randint(1, PAGES - 8), timeout=90)
            time.sleep(chance.random() * 0.2)
            KILLERS[what](cluster, tool, process.pid)
            before, calls = stored_pages(tool), len(vendor.calls())
            if what == "starter":
                process = tool.start(*command, TEMPORAL_ADDRESS=cluster.address)
            out, err = process.communicate(timeout=200)
            ran = Ran(process.returncode, out, err, 0.0)
            good = ran.code == 0 and ran.sources() == {"ai": PAGES}
            survived += good
            lost += 0 if good else PAGES - (ran.sources().get("ai", 0) if ran.code == 0 else 0)
            again = [call for call in vendor.calls()[calls:] if page_of(call.user) in before]
            repeated += len(again)
    return Line(f"SIGKILL of the {what}", tries, survived, lost, repeated)


def page_of(prompt: str) -> int:
    return int(prompt.split("page ")[1].split(" ")[0])


def _kill_worker(cluster: Cluster, tool: Tool, pid: int) -> None:
    cluster.workers[-1].send_signal(signal.SIGKILL)
    cluster.workers[-1].wait()
    cluster.start_worker(tool)


def _kill_server(cluster: Cluster, tool: Tool, pid: int) -> None:
    cluster.kill_server()
    cluster.start_server()


def _kill_child(cluster: Cluster, tool: Tool, pid: int) -> None:
    for child in children_of(cluster.workers[-1].pid):
        kill(child)


KILLERS: dict[str, Callable[[Cluster, Tool, int], None]] = {
    "worker": _kill_worker,
    "server": _kill_server,
    "child": _kill_child,
    "starter": lambda cluster, tool, pid: kill(pid),
}


def recovering_vendor(folder: Path) -> Line:
    """Down for 20 s and then well; in hold mode the pages wait for it."""
    with StandIn() as vendor:
        vendor.behave(vendor_fails(503), until_s=20)
        tool = Tool(folder / "hold", vendor, DISPATCH_MODE="hold", BREAKER_BASE_BACKOFF="4s")
        ran = tool.process(pdfs.mixed_pdf(folder / "hold.pdf", 0, 20), "--deadline", "90s")
        read = ran.sources().get("ai", 0)
        return Line("vendor down for 20 s, hold mode", 1, int(read == 20), 20 - read, 0)


def giant_documents(folder: Path) -> list[Line]:
    """5,000 pages against 500: all done, and the worker's peak memory beside it."""
    lines = []
    peaks: dict[str, float] = {}
    for name, text, vision in (("500", 450, 50), ("5,000", 5000, 0), ("5,000 mixed", 4500, 500)):
        with StandIn() as vendor, Cluster(folder / f"giant-{name}") as cluster:
            tool = Tool(folder / f"giant-{name}" / "state", vendor)
            worker = cluster.start_worker(tool)
            source = pdfs.mixed_pdf(folder / "giant.pdf", text, vision)
            started = time.monotonic()
            command = ("process", source, "--json", "--deadline", "20m")
            ran = tool.run(*command, timeout=1200.0, TEMPORAL_ADDRESS=cluster.address)
            seconds = time.monotonic() - started
            peaks[name] = peak_mb(worker.pid)
            runs = asyncio.run(count_runs(cluster.address, ran.json["job_id"]))
        done = ran.code == 0 and ran.json["metadata"]["pages_done"] == text + vision
        lost = 0 if done else text + vision
        ratio = peaks[name] / (peaks["500"] or 1.0)
        memory = f"worker's peak {peaks[name]:.0f} MB ({ratio:.2f} of 500 pages')"
        note = f"{seconds:.0f} s in {runs} runs, {memory}"
        lines.append(Line(f"{name} pages", 1, int(done), lost, 0, note))
    return lines


async def count_runs(address: str, job_id: str) -> int:
    """How many runs the document's workflow took."""
    client = await connect(Settings(), address)
    query = f"WorkflowId = '{workflow_id(job_id)}'"
    return len([run async for run in client.list_workflows(query)])


def peak_mb(pid: int) -> float:
    """The most resident memory that the process ever had."""
    return megabytes(own_peak(pid)) or 0.0


def hostile_documents(folder: Path, variants: int) -> Line:
    files = hostile_files(folder, variants)
    with Cluster(folder / "hostile") as cluster:
        tool = Tool(folder / "hostile" / "state", LOCAL_OCR="never")
        worker = cluster.start_worker(tool, **open_to_others(*files))
        before = peak_mb(worker.pid)
        outcome = asyncio.run(try_files(cluster.address, files))
        alive = worker.poll() is None
        grew = peak_mb(worker.pid) - before if alive else 0.0
    note = (
        f"{outcome.read} read, {outcome.refused} refused with a code; slowest "
        f"{outcome.slowest_s:.1f} s; worker {'lives' if alive else 'DIED'}, grew {grew:.0f} MB"
    )
    ended = outcome.read + outcome.refused
    return Line("hostile files", len(files), ended if alive else 0, len(files) - ended, 0, note)


def storm(folder: Path, documents: int) -> Line:
    """Workers killed every few seconds under foreign queries; a history must replay to survive."""
    outcome = rage(folder / "storm", documents)
    return Line(
        "storm of kills and queries",
        documents,
        outcome.survived,
        outcome.pages_lost,
        outcome.calls_repeated,
        outcome.note(),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=5, help="of each kind of process")
    parser.add_argument("--variants", type=int, default=200, help="of hostile files")
    parser.add_argument("--documents", type=int, default=300, help="in the storm")
    parser.add_argument("--only", choices=["kills", "hostile", "giant", "hold", "storm"])
    arguments = parser.parse_args()
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as name:
        folder, chance = Path(name), random.Random(SEED)
        if arguments.only in (None, "kills"):
            lines += [killed(what, arguments.kills, folder, chance) for what in KILLERS]
        if arguments.only in (None, "hold"):
            lines.append(recovering_vendor(folder))
        if arguments.only in (None, "hostile"):
            lines.append(hostile_documents(folder, arguments.variants))
        if arguments.only in (None, "giant"):
            lines += giant_documents(folder)
        if arguments.only in (None, "storm"):
            lines.append(storm(folder, arguments.documents))
    table = Table(box=None, pad_edge=False)
    for heading in ("fault", "tried", "survived", "pages lost", "calls repeated", "note"):
        table.add_column(heading)
    for line in lines:
        table.add_row(*(str(getattr(line, f)) for f in Line.__dataclass_fields__))
    Console(width=140).print(table)
    return (
        0 if all(line.tried == line.survived and not line.calls_repeated for line in lines) else 1
    )


if __name__ == "__main__":
    sys.exit(main())
