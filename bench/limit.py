"""Vision pages through the whole pipeline, against the ideal and against a bare script."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import spans
from bench.cases import FULL, QUICK, Case, Measured
from bench.commands import WrongRun, bare, check_calls, cold, prepare
from bench.findings import Part
from bench.limit_report import PAGES, findings
from bench.progress import print_progress
from bench.stage import Stage, distinct
from testing import pdfs
from testing.collector import Collector
from testing.vendor.process import StandInProcess


def measure(full: bool, pages: int = PAGES) -> Part:
    """Quick: three cases; full: every latency with every number of slots."""
    cases = FULL if full else QUICK
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        found = asyncio.run(_all(cases, Path(name), vendor, pages))
    return findings(found, pages)


async def _all(
    cases: Sequence[Case], folder: Path, vendor: StandInProcess, pages: int
) -> list[Measured]:
    """A worker's slots are its settings, so there is one stage for each number of slots."""
    source = pdfs.mixed_pdf(folder / "pages.pdf", 0, pages)
    found = []
    for slots in sorted({case.slots for case in cases}):
        same = [case for case in cases if case.slots == slots]
        prepare(vendor, 0.0)
        async with Stage(folder / f"stage-{slots}", vendor, slots) as stage:
            for case in same:
                found.append(await _compare(case, stage, source, vendor, pages))
        for measured in found:
            if measured.case.more and measured.case.slots == slots:
                await _cold(measured, folder, source, vendor, pages)
        traced = [one for one in found if one.case.more and one.case.slots == slots]
        await _trace(traced, folder / f"traced-{slots}", source, vendor, pages)
    return found


async def _compare(
    case: Case, stage: Stage, source: Path, vendor: StandInProcess, pages: int
) -> Measured:
    """Bare and quire in turns: what disturbs the machine for a while disturbs both."""
    measured = Measured(case, [], [])
    for number in range(case.repeats):
        job = f"{case.latency:g}-{case.slots}-{number}".replace(".", "_")
        prepare(vendor, case.latency)
        text = stage.folder / f"{job}.txt"
        plain = await asyncio.to_thread(bare, source, text, vendor, case.slots, warm=True)
        check_calls(vendor, pages + 1)
        prepare(vendor, case.latency)
        other = distinct(source, stage.folder / f"{job}.pdf")
        (reading,), cost = await stage.read_metered({job: other})
        check_calls(vendor, pages)
        if reading.result.metadata.pages_failed:
            raise WrongRun(f"{reading.result.metadata.pages_failed} pages were not read")
        measured.bare.append(plain)
        measured.quire.append((reading, cost))
        print_progress(f"{case.name}: bare {plain.seconds:.2f} s, quire {reading.seconds:.2f} s")
    return measured


async def _cold(
    measured: Measured, folder: Path, source: Path, vendor: StandInProcess, pages: int
) -> None:
    case = measured.case
    prepare(vendor, case.latency)
    state = folder / f"cold-{case.latency:g}-{case.slots}"
    measured.cold_s = await asyncio.to_thread(cold, source, state, vendor, case.slots)
    check_calls(vendor, pages)
    prepare(vendor, case.latency)
    text = folder / "cold.txt"
    plain = await asyncio.to_thread(bare, source, text, vendor, case.slots, warm=False)
    check_calls(vendor, pages)
    measured.bare_cold_s = plain.wall_s
    print_progress(f"{case.name}: from nothing {measured.cold_s:.2f} s, bare {plain.wall_s:.2f} s")


async def _trace(
    traced: Sequence[Measured], folder: Path, source: Path, vendor: StandInProcess, pages: int
) -> None:
    """Runs of their own: spans have a price, and must not be part of the figures above."""
    if not traced:
        return
    with Collector() as collector:
        otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "500"}
        prepare(vendor, 0.0)
        async with Stage(folder, vendor, traced[0].case.slots, **otel) as stage:
            for number, measured in enumerate(traced):
                await asyncio.sleep(1.0)  # the spans of the document before are on their way
                collector.spans.clear()
                prepare(vendor, measured.case.latency)
                other = distinct(source, folder / f"{number}.pdf")
                reading = await stage.read(other, f"traced-{number}")
                # The workflow's own span ends last.
                await asyncio.to_thread(collector.wait_for, "RunWorkflow", 1)
                await asyncio.to_thread(collector.wait_for, "RunActivity:recognize_page", pages)
                begun = reading.history.started
                measured.shares = spans.shares(
                    collector.spans, measured.case.slots, begun, begun + reading.seconds
                )
