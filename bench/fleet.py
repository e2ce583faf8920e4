"""One long document and several workers: how many calls it makes at once, and how long it takes."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.commands import WrongRun, check_calls, prepare
from bench.findings import Column, Part, Row, Table
from bench.progress import print_progress
from bench.stage import Reading, Stage, distinct, ideal_seconds
from quire.settings import Settings
from testing import pdfs
from testing.vendor.process import StandInProcess

WORKERS, WORKERS_FULL = (3,), (1, 3, 6)
SLOTS, LATENCY, PAGES = 8, 2.0, 400
# As the tool has them: nothing is set for the number of workers.
AS_IT_COMES = {
    "WHEN_BUSY": "spill",
    "PAGE_WINDOW": str(Settings.model_fields["page_window"].default),
    "ROUTE_CHAIN": "openai:gpt-6.1-sol",
}

METHOD = f"""\
One document of {PAGES} pages that all need the one model that is named. Each worker has {SLOTS}
slots, and nothing else is set: the document learns from its answers how many workers there are. All
of them, the server and the vendor share this machine. The vendor takes {LATENCY:g} s and counts how
many calls are open at once; the ideal is `ceil(pages / slots of all workers) * latency`. A failed
task is one of the workflow's; it was done again."""


@dataclass(frozen=True)
class Fleet:
    """A document that was read by so many workers."""

    workers: int
    pages: int
    most: int
    reading: Reading

    def row(self) -> Row:
        ideal = ideal_seconds(self.pages, self.workers * SLOTS, LATENCY)
        history = self.reading.history
        return {
            "workers": self.workers,
            "pages": self.pages,
            "slots": self.workers * SLOTS,
            "most": self.most,
            "ideal": ideal,
            "seconds": self.reading.seconds,
            "of_ideal": self.reading.seconds / ideal,
            "events_per_page": history.events / self.pages,
            "bytes_per_page": history.bytes / self.pages,
            "failed_tasks": len(history.failed_tasks),
        }


def measure(full: bool, pages: int = PAGES) -> Part:
    """Quick: three workers; full: one, three and six."""
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        found = asyncio.run(_all(WORKERS_FULL if full else WORKERS, Path(name), vendor, pages))
    return findings(found)


async def _all(
    numbers: Sequence[int], folder: Path, vendor: StandInProcess, pages: int
) -> list[Fleet]:
    source = pdfs.mixed_pdf(folder / "pages.pdf", 0, pages)
    return [await _read(number, source, folder, vendor, pages) for number in numbers]


async def _read(
    workers: int, source: Path, folder: Path, vendor: StandInProcess, pages: int
) -> Fleet:
    prepare(vendor, 0.3)
    place = folder / f"stage-{workers}"
    async with Stage(place, vendor, SLOTS, workers, **AS_IT_COMES) as stage:
        prepare(vendor, LATENCY)
        reading = await stage.read(distinct(source, place / "fleet.pdf"), "fleet")
    check_calls(vendor, pages)
    if reading.result.metadata.pages_failed:
        raise WrongRun(f"{reading.result.metadata.pages_failed} pages were not read")
    fleet = Fleet(workers, pages, vendor.max_concurrent(), reading)
    print_progress(f"{workers} workers: {reading.seconds:.2f} s, {fleet.most} calls at once")
    for why in reading.history.failed_tasks:
        print_progress(f"a task failed: {why}")
    return fleet


def findings(found: Sequence[Fleet]) -> Part:
    """A row for each number of workers."""
    columns = (
        Column("workers", "workers"),
        Column("slots", "slots of all"),
        Column("most", "calls at once"),
        Column("ideal", "ideal", "{:.1f}"),
        Column("seconds", "seconds", "{:.1f}"),
        Column("of_ideal", "of ideal", "{:.2f}"),
        Column("events_per_page", "events a page", "{:.2f}"),
        Column("bytes_per_page", "bytes of history a page", "{:.0f}"),
        Column("failed_tasks", "failed tasks"),
    )
    rows = [fleet.row() for fleet in found]
    title = f"{PAGES} pages by more and more workers of {SLOTS} slots"
    numbers = [f"{n}" for n in WORKERS_FULL if n not in {fleet.workers for fleet in found}]
    skipped = (f"{' and '.join(numbers)} workers: only in the full set",) if numbers else ()
    table = Table("workers", title, columns, rows)
    return Part("fleet", "Several workers", METHOD, (table,), skipped=skipped)
