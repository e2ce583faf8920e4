"""SIGKILL of each kind of process at random points of a document."""

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

from bench.faults.line import Line
from testing import pdfs
from testing.cluster import Cluster, children_of, kill
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn

PAGES = 60
SEED = 20


def lines(folder: Path, kills: int) -> list[Line]:
    """Each kind of process, killed so often."""
    chance = random.Random(SEED)
    source = pdfs.mixed_pdf(folder / "sixty.pdf", 0, PAGES)
    return [_killed(what, kills, folder, source, chance) for what in KILLERS]


def _killed(what: str, tries: int, folder: Path, source: Path, chance: random.Random) -> Line:
    survived = lost = repeated = 0
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
            read = ran.sources().get("ai", 0) if ran.code == 0 else 0
            survived += read == PAGES
            lost += PAGES - read
            again = [call for call in vendor.calls()[calls:] if page_of(call.user) in before]
            repeated += len(again)
    return Line(f"SIGKILL of the {what}", tries, survived, lost, repeated)


def stored_pages(tool: Tool) -> set[int]:
    """Pages whose answer is in the store at this moment."""
    answers = (tool.state / "store" / "answers").rglob("*.json")
    return {int(path.name.split("-")[0]) for path in answers}


def page_of(prompt: str) -> int:
    """The page that a call was about."""
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
