"""What becomes of time, memory and history when documents grow, in length and in number."""

import asyncio
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.commands import WrongRun, check_calls, prepare
from bench.findings import Chart, Column, Part, Row, Table
from bench.progress import print_progress
from bench.stage import Cost, Reading, Stage, distinct
from bench.usage import megabytes
from testing import pdfs
from testing.vendor.process import StandInProcess

LENGTHS = (1, 10, 100)
LENGTHS_FULL = (1, 10, 100, 1000, 5000)
AT_ONCE = (1, 8)
AT_ONCE_FULL = (1, 8, 32)
PAGES_EACH = 20
SLOTS = 8
LATENCY = 0.3
# One page in ten needs a model, as in `make faults`.
VISION_SHARE = 10
# Promised: the worker's memory does not grow with the length of a document.
SHORT, MIDDLE, LONG, AT_MOST = 100, 1000, 5000, 1.2
# More often than elsewhere: a short document is done in a third of a second.
LOOK_EVERY_S = 0.2

METHOD = f"""\
One worker with {SLOTS} slots, already warm (see the limit), reads everything in this order. Memory
is the peak during the document, in MB of a million bytes: of the worker's process alone, as the
kernel keeps it (RSS, reset before each document; a dash where that is not allowed), and of
the worker with its MuPDF children (PSS: what they share counts once), looked at every
{LOOK_EVERY_S:g} s. The server's is at the end. History is what the server keeps, over all runs of
the workflow (a long one continues as new).

- **In length**: documents of which one page in ten needs a model and the others have a good text
  layer; the vendor answers at once, so that the time is the program's own. The single page needs
  a model.
- **In number**: documents of {PAGES_EACH} pages that all need a model, started at the same
  moment; the vendor takes {LATENCY:g} s, so that {SLOTS} slots can read
  {SLOTS / LATENCY:.1f} pages a second at most. The time is from the first start to the last end."""


@dataclass(frozen=True)
class Grown:
    """Documents that were read together."""

    documents: int
    pages: int
    vision_pages: int
    readings: Sequence[Reading]
    cost: Cost

    @property
    def seconds(self) -> float:
        begun = min(reading.history.started for reading in self.readings)
        return max(r.history.started + r.seconds for r in self.readings) - begun

    def row(self) -> Row:
        histories = [reading.history for reading in self.readings]
        return {
            "documents": self.documents,
            "pages": self.pages,
            "vision_pages": self.vision_pages,
            "seconds": self.seconds,
            "pages_per_s": self.pages / self.seconds,
            "own_peak_mb": megabytes(self.cost.own_peak_bytes),
            "peak_mb": megabytes(self.cost.peak_bytes),
            "server_mb": megabytes(self.cost.server_bytes),
            "worker_cpu_ms": 1e3 * self.cost.worker.own / self.pages,
            "children_cpu_ms": 1e3 * self.cost.worker.children / self.pages,
            "server_cpu_ms": 1e3 * self.cost.server.total / self.pages,
            "runs": max(history.runs for history in histories),
            "events_per_page": sum(history.events for history in histories) / self.pages,
            "bytes_per_page": sum(history.bytes for history in histories) / self.pages,
        }


def measure(full: bool, pages: int = LONG) -> Part:
    """Quick: up to 100 pages and 8 documents; full: up to 5,000 and 32. `pages` cuts lengths."""
    lengths = [n for n in (LENGTHS_FULL if full else LENGTHS) if n <= pages]
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        numbers = AT_ONCE_FULL if full else AT_ONCE
        long, many = asyncio.run(_all(lengths, numbers, Path(name), vendor))
    return findings(long, many)


async def _all(
    lengths: Sequence[int], numbers: Sequence[int], folder: Path, vendor: StandInProcess
) -> tuple[list[Grown], list[Grown]]:
    prepare(vendor, 0.0)
    async with Stage(folder / "stage", vendor, SLOTS) as stage:
        long = []
        for length in lengths:
            vision = max(1, length // VISION_SHARE)
            source = pdfs.mixed_pdf(folder / f"{length}.pdf", length - vision, vision)
            long.append(await _read(stage, vendor, [source], 0.0, length, vision))
        many = []
        short = pdfs.mixed_pdf(folder / "short.pdf", 0, PAGES_EACH)
        for number in numbers:
            sources = [distinct(short, folder / f"{number}-{n}.pdf") for n in range(number)]
            total = number * PAGES_EACH
            many.append(await _read(stage, vendor, sources, LATENCY, total, total))
    return long, many


async def _read(
    stage: Stage,
    vendor: StandInProcess,
    sources: Sequence[Path],
    latency: float,
    pages: int,
    vision_pages: int,
) -> Grown:
    prepare(vendor, latency)
    jobs = {f"grown-{source.stem}": source for source in sources}
    readings, cost = await stage.read_metered(jobs, LOOK_EVERY_S)
    check_calls(vendor, vision_pages)
    if sum(reading.result.metadata.pages_done for reading in readings) != pages:
        raise WrongRun("not every page was done")
    grown = Grown(len(sources), pages, vision_pages, readings, cost)
    print_progress(f"{len(sources)} x {pages // len(sources)} pages: {grown.seconds:.2f} s")
    return grown


# --- what the report says --------------------------------------------------------------------


COST = (
    Column("seconds", "seconds", "{:.2f}"),
    Column("pages_per_s", "pages/s", "{:.1f}"),
    Column("own_peak_mb", "worker's peak MB", "{:.0f}"),
    Column("peak_mb", "with MuPDF", "{:.0f}"),
    Column("server_mb", "server MB", "{:.0f}"),
    Column("worker_cpu_ms", "worker CPU ms a page", "{:.1f}"),
    Column("children_cpu_ms", "MuPDF CPU ms", "{:.1f}"),
    Column("server_cpu_ms", "server CPU ms", "{:.1f}"),
    Column("runs", "runs"),
    Column("events_per_page", "events a page", "{:.2f}"),
    Column("bytes_per_page", "bytes of history a page", "{:.0f}"),
)


def findings(long: Sequence[Grown], many: Sequence[Grown]) -> Part:
    """Tables and charts; in words, how memory of the longest compares."""
    columns = (Column("pages", "pages", "{:,}"), Column("vision_pages", "vision", "{:,}"), *COST)
    at_once = (Column("documents", "documents"), Column("pages", "pages", "{:,}"), *COST)
    lines = {
        "seconds": [(g.pages, g.seconds) for g in long],
        **{
            f"peak MB, {name}": [(pages, amount / 1e6) for pages, amount in peaks.items()]
            for name, peaks in memories(long).items()
        },
    }
    return Part(
        "growth",
        "Growth",
        METHOD,
        (
            Table("length", "Documents of more and more pages", columns, [g.row() for g in long]),
            Table("number", "More and more documents at once", at_once, [g.row() for g in many]),
        ),
        (
            Chart(
                "length",
                "Documents of more and more pages",
                "pages",
                "",
                lines,
                kind="lines",
                logarithmic=True,
            ),
            Chart(
                "number",
                "More and more documents at once",
                "documents",
                "pages a second",
                {
                    "pages a second": [(g.documents, g.pages / g.seconds) for g in many],
                    "what the vendor allows": [(g.documents, SLOTS / LATENCY) for g in many],
                },
                kind="lines",
            ),
        ),
        tuple(said(memories(long))),
        tuple(_skipped(long, many)),
    )


def memories(long: Sequence[Grown]) -> dict[str, dict[int, int]]:
    """Peaks by pages, of the worker alone and with its children; what is unknown is left out."""
    found = {
        "worker alone": {grown.pages: grown.cost.own_peak_bytes for grown in long},
        "worker and MuPDF": {grown.pages: grown.cost.peak_bytes for grown in long},
    }
    return {
        name: known
        for name, peaks in found.items()
        if (known := {pages: amount for pages, amount in peaks.items() if amount})
    }


def said(memory: Mapping[str, Mapping[int, int]]) -> Iterable[str]:
    """Each memory against the promise, and how it grows where a document is long."""
    for name, peaks in memory.items():
        if SHORT in peaks and LONG in peaks:
            value = peaks[LONG] / peaks[SHORT]
            kept = "kept" if value <= AT_MOST else "**not kept**"
            yield (
                f"Memory, {name}: {value:.2f} times as much for {LONG:,} pages as for {SHORT}; "
                f"promised not to grow (at most {AT_MOST:.1f}): {kept}.{_slope(peaks)}"
            )


def _slope(peaks: Mapping[int, int]) -> str:
    if MIDDLE not in peaks:
        return ""
    kilobytes = (peaks[LONG] - peaks[MIDDLE]) / (LONG - MIDDLE) / 1e3
    return f" From {MIDDLE:,} to {LONG:,} pages: {kilobytes:+.1f} kB a page."


def _skipped(long: Sequence[Grown], many: Sequence[Grown]) -> Iterable[str]:
    lengths = [f"{n:,}" for n in LENGTHS_FULL if n not in {grown.pages for grown in long}]
    numbers = [str(n) for n in AT_ONCE_FULL if n not in {grown.documents for grown in many}]
    if lengths:
        yield f"{' and '.join(lengths)} pages: only in the full set"
    if numbers:
        yield f"{' and '.join(numbers)} documents at once: only in the full set"
