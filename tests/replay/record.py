"""Records a history of every kind of run: `python -m tests.replay.record`.

Only needed when a new kind is added. Histories that are there are never recorded again: they
stand for documents that are under way somewhere while the code changes.
"""

import asyncio
import hashlib
import json
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path
from threading import Timer

from quire.contracts.names import workflow_id
from quire.domain.document.keys import survey_key
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.brick import brick, bricking_worker, poke
from testing.cluster import SOON_CONTINUED, Cluster
from testing.prose import WORDS
from testing.tool import Ran, Tool
from testing.vendor.behaviours import (
    vendor_answers,
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
    vendor_rate_limits,
    vendor_refuses_key,
)
from testing.vendor.standin import StandIn
from testing.wait import wait_until

HISTORIES = Path(__file__).with_name("histories")
Scene = Callable[[StandIn, Callable[..., Ran], Path], None]


def healthy(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_answers_late(0.05))
    run("process", pdf)


def failover(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_rate_limits(), model="gpt-6.1-sol")
    vendor.behave(vendor_refuses_key(), api="openai", marker="page 6 of")
    run("process", pdf)


def every_vendor_down(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_fails(503))
    run("process", pdf)


def held_until_well(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_fails(503), until_s=4)
    run("process", pdf)


def deadline(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_hangs())
    vendor.behave(vendor_answers(), first=2)
    run("process", pdf, "--deadline", "3s")


def retried(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_fails(503))
    run("process", pdf)
    vendor.reset()
    run("retry", "retried")


def engine_at_the_end(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """As `engine_by_workers`, recorded before the workflow said so anywhere but at its end."""
    run("process", pdf)


def engine_by_workers(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """The client knows no engine: the workflow says which it is once it has a plan."""
    run("process", pdf)


def engine_by_wish(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    run("process", pdf, "--engine", "anthropic")


def refused(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    run("process", pdfs.locked_pdf(pdf.with_name("locked.pdf"), "secret"))


def continued(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_answers_late(0.05))
    run("process", pdfs.mixed_pdf(pdf.with_name("long.pdf"), 2, 30))


def continued_failing(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """A breaker is open, and errors have been reported, when the next run begins."""
    vendor.behave(vendor_answers_late(0.05))
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    run("process", pdfs.mixed_pdf(pdf.with_name("failing.pdf"), 2, 30))


def in_parts(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_answers_late(0.05))
    run("process", pdfs.mixed_pdf(pdf.with_name("parts.pdf"), 2, 58))


def head_alone(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    vendor.behave(vendor_answers_late(0.05))
    run("process", pdfs.mixed_pdf(pdf.with_name("head.pdf"), 2, 58), "--pages", "1-5")


def deadline_in_the_rest(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """A page behind the head takes so long to survey that the others there come too late."""
    vendor.behave(vendor_answers_late(0.05))
    slow = pdfs.endless_pdf(pdf.with_name("slow.pdf"), endless_page=40, pages=60)
    run("process", slow, "--deadline", "5s")


def rest_fails(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """Something that is no file stands where the survey of the rest would be stored. Temporal
    tries again for a minute and a half before that is final, and for as long to write the result:
    in between it goes away."""
    vendor.behave(vendor_answers_late(0.05))
    path = pdfs.mixed_pdf(pdf.with_name("lost.pdf"), 2, 58)
    store = pdf.with_name("rest_fails") / "state" / "store"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    in_the_way = store / survey_key(sha256, 2)
    in_the_way.mkdir(parents=True)
    Timer(120, in_the_way.rmdir).start()
    run("process", path, "--deadline", "5m")


def paced_and_hedged(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """Refusals that slow routes down, failures that are tried again, and a call that hangs at the
    end, whose page is asked of another route too."""
    vendor.behave(vendor_answers_late(0.2))
    vendor.behave(vendor_rate_limits(), every=5)
    vendor.behave(vendor_fails(503), skip=8, first=3)
    vendor.behave(vendor_hangs(), marker="page 32 of", first=1)
    run("process", pdfs.mixed_pdf(pdf.with_name("paced.pdf"), 2, 30))


def read_by_ocr(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """Local OCR reads a scan in the place of vendors that fail, and a retry has them read it."""
    vendor.behave(vendor_fails(503))
    run("process", pdfs.scanned_pdf(pdf.with_name("scan.pdf"), 2))
    vendor.reset()
    run("retry", "read_by_ocr")


def deadline_grows(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """Nobody but local OCR reads, and nobody asked for a deadline."""
    run("process", pdfs.scanned_pdf(pdf.with_name("scans.pdf"), 19), "--engine", "local")


def second_opinions(vendor: StandIn, run: Callable[..., Ran], pdf: Path) -> None:
    """Two readings are doubtful: the second one of page 4 is better, and that of page 5 is not."""
    vendor.behave(vendor_answers_late(0.05))
    vendor.behave(vendor_answers("The harbour master keeps a log of ships."), marker="page 5 of")
    vendor.behave(vendor_answers(WORDS), marker="page [45] of", first=2)
    run("process", pdf)


SCENES: dict[str, tuple[Scene, dict[str, str]]] = {
    scene.__name__: (scene, settings)
    for scene, settings in [
        (healthy, {}),
        (failover, {}),
        (every_vendor_down, {}),
        (held_until_well, {"DISPATCH_MODE": "hold", "BREAKER_BASE_BACKOFF": "1s"}),
        (deadline, {}),
        (retried, {}),
        (refused, {}),
        (engine_at_the_end, {}),
        (engine_by_workers, {}),
        (engine_by_wish, {}),
        (continued, {}),
        (continued_failing, {}),
        (in_parts, {}),
        (head_alone, {}),
        (deadline_in_the_rest, {"IMAGE_SEND_ALL_PAGES": "true"}),
        (rest_fails, {}),
        (paced_and_hedged, {}),
        (read_by_ocr, {"LOCAL_OCR": "auto"}),
        (deadline_grows, {"LOCAL_OCR": "auto"}),
        (second_opinions, {"DOUBT": "reread"}),
    ]
}


WATCH = "watch"


async def record_watch(folder: Path) -> None:
    """Brick a document, have a watch heal it, and write down the history of that watch."""
    pdf = pdfs.mixed_pdf(folder / "watched.pdf", 2, 2)
    with StandIn() as vendor, Cluster(folder / WATCH) as cluster:
        tool = Tool(folder / WATCH / "state", vendor, TEMPORAL_ADDRESS=cluster.address)
        vendor.behave(vendor_hangs())
        tool.process(pdf, "--job-id", "watched", "--detach")
        async with bricking_worker(tool) as client:
            await brick(client, "watched")
        cluster.start_worker(tool, WATCH_INTERVAL="3s")
        await poke(client, "watched")
        log = cluster.folder / "worker-0.log"
        await asyncio.to_thread(wait_until, lambda: "document_healed" in log.read_text())
        watches = [one async for one in client.list_workflows("WorkflowType = 'WatchWorkflow'")]
        # That which healed has done most.
        handles = [client.get_workflow_handle(one.id, run_id=one.run_id) for one in watches]
        histories = [await handle.fetch_history() for handle in handles]
        _write(WATCH, 0, max(histories, key=lambda history: len(history.events)).to_json())


def _write(name: str, number: int, history: str) -> None:
    target = HISTORIES / f"{name}-{number}.json"
    target.write_text(json.dumps(json.loads(history), separators=(",", ":")) + "\n")


async def record(name: str, folder: Path) -> None:
    """Play one scene and write down the history of each of its runs."""
    scene, settings = SCENES[name]
    config = SOON_CONTINUED if name.startswith("continued") else {}
    with StandIn() as vendor, Cluster(folder / name, config) as cluster:
        tool = Tool(folder / name / "state", vendor, **settings)
        cluster.start_worker(tool)

        def run(command: str, subject: object, *more: str) -> Ran:
            job = ("--job-id", name) if command == "process" else ()
            address = cluster.address
            return tool.run(command, subject, *job, *more, timeout=300, TEMPORAL_ADDRESS=address)

        scene(vendor, run, pdfs.mixed_pdf(folder / f"{name}.pdf", 2, 6))
        client = await connect(Settings(), cluster.address)
        query = f"WorkflowId = '{workflow_id(name)}'"
        runs = [execution async for execution in client.list_workflows(query)]
        for number, execution in enumerate(sorted(runs, key=lambda run: run.start_time)):
            handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
            _write(name, number, (await handle.fetch_history()).to_json())


def main() -> None:
    parser = ArgumentParser(
        prog="python -m tests.replay.record",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.parse_args()
    asyncio.run(record_missing())


async def record_missing() -> None:
    """Record the scenes that have no history yet."""
    with tempfile.TemporaryDirectory() as folder:
        for name in SCENES:
            if not list(HISTORIES.glob(f"{name}-*.json")):
                await record(name, Path(folder))
        if not list(HISTORIES.glob(f"{WATCH}-*.json")):
            await record_watch(Path(folder))


if __name__ == "__main__":
    main()
