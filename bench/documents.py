"""Survey and drawing alone: our child processes against raw MuPDF, on the same two cores."""

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import raw_mupdf
from bench.findings import Chart, Column, Part, Row, Table
from bench.medians import Median
from bench.progress import print_progress
from quire.contracts.reading import ImageOptions
from quire.domain.document.keys import chunk_of, chunk_pages
from quire.pdf.reader import Documents
from testing import pdfs
from testing.tool import ROOT

CORES = 2
OPTIONS = ImageOptions(dpi=100, color="rgb", format="jpeg", jpeg_quality=70)
# Folders of the corpus, and how their documents are called here.
KINDS = {
    "born_digital_text": "real: born-digital text",
    "mixed_graphics": "real: text and graphics",
    "scanned": "real: scans",
}

METHOD = f"""\
The same pages, on the same {CORES} cores: `quire.pdf.reader.Documents` with {CORES} child
processes (limits on time and memory, every answer sent between processes) against raw MuPDF that
may crash: in {CORES} processes that share the pages out, which is the fair comparison, and in one,
as a plain script would. The survey is more than its reference, which takes text, drawings and
images from every page: it also judges words, tables, figures and ink, to say what a page needs.
Drawing is the same work: {OPTIONS.dpi} dpi, JPEG of quality {OPTIONS.jpeg_quality} by Pillow.
In turns, each time on fresh copies, after a first round that does not count; medians. Opening the
documents is part of the time on all sides."""


@dataclass
class Kind:
    """Documents of one kind, and the seconds that each run took."""

    name: str
    files: Sequence[Path]
    pages: int
    survey_s: list[float] = field(default_factory=list)
    raw_survey_s: list[float] = field(default_factory=list)
    shared_survey_s: list[float] = field(default_factory=list)
    render_s: list[float] = field(default_factory=list)
    raw_render: list[raw_mupdf.Drawn] = field(default_factory=list)
    shared_render_s: list[float] = field(default_factory=list)

    def row(self) -> Row:
        """`raw` is one process, `shared` as many as there are cores."""
        paces = {
            "survey": self._pace(self.survey_s),
            "raw_survey": self._pace(self.raw_survey_s),
            "shared_survey": self._pace(self.shared_survey_s),
            "render": self._pace(self.render_s),
            "raw_render": self._pace([drawn.seconds for drawn in self.raw_render]),
            "shared_render": self._pace(self.shared_render_s),
        }
        ratios = {
            f"{work}_of_{whose}": paces[work] / paces[f"{whose}_{work}"]
            for work in ("survey", "render")
            for whose in ("raw", "shared")
        }
        return {
            "kind": self.name,
            "pages": self.pages,
            "runs": len(self.survey_s),
            **paces,
            **ratios,
            "raw_draw_ms": 1e3 / self._pace([drawn.draw_s for drawn in self.raw_render]),
            "raw_encode_ms": 1e3 / self._pace([drawn.encode_s for drawn in self.raw_render]),
        }

    def _pace(self, seconds: Sequence[float]) -> float:
        """Pages a second."""
        return self.pages / Median.of(seconds).value


def measure(full: bool, pages: int = 300) -> Part:
    """Quick: at most 60 pages a kind, three runs; full: 300 and five."""
    length = min(pages, 300 if full else 60)
    with tempfile.TemporaryDirectory() as name, _two_cores():
        kinds = [*_generated(Path(name), length), *_real(None if full else length)]
        asyncio.run(_all(kinds, Path(name), 5 if full else 3))
    return findings(kinds)


def _generated(folder: Path, pages: int) -> Iterator[Kind]:
    text = pdfs.text_pdf(folder / "text.pdf", pages)
    chart = pdfs.mixed_pdf(folder / "chart.pdf", 0, pages)
    scans = pdfs.scanned_pdf(folder / "scans.pdf", max(1, pages // 5))
    yield Kind("generated: text", [text], pages)
    yield Kind("generated: text and a chart", [chart], pages)
    yield Kind("generated: scans", [scans], max(1, pages // 5))


def _real(at_most: int | None) -> Iterator[Kind]:
    corpus = find_corpus()
    for folder, name in KINDS.items() if corpus else ():
        files = sorted((corpus / folder).glob("*.pdf")) if corpus else []
        counts = {path: int(raw_mupdf.pymupdf.open(path).page_count) for path in files}
        chosen = counts if at_most is None else shortest(counts, at_most)
        if chosen:
            yield Kind(name, list(chosen), sum(chosen.values()))


def shortest(counts: Mapping[Path, int], at_most: int) -> dict[Path, int]:
    """As many whole documents as have no more pages together, the shortest first."""
    chosen: dict[Path, int] = {}
    for path, pages in sorted(counts.items(), key=lambda item: item[1]):
        if sum(chosen.values()) + pages <= at_most:
            chosen[path] = pages
    return chosen


def find_corpus() -> Path | None:
    """Beside the project, or beside the repository whose worktree this is."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--path-format=absolute", "--git-common-dir"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        homes = [ROOT, Path(ran.stdout.strip()).parent]
    except (OSError, subprocess.SubprocessError):
        homes = [ROOT]
    places = (home.parent / "shared" / "corpus" for home in homes)
    return next((place for place in places if place.is_dir()), None)


@contextmanager
def _two_cores() -> Iterator[None]:
    """Children inherit it; on a larger machine the numbers would say something else."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:CORES])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


async def _all(kinds: Sequence[Kind], folder: Path, repeats: int) -> None:
    documents, together = Documents(processes=CORES), raw_mupdf.Together(CORES)
    try:
        for kind in kinds:
            for number in range(repeats + 1):
                copies = folder / f"copies-{number}"
                await _once(documents, together, kind, copies, counts=number > 0)
            print_progress(f"{kind.name}: {kind.pages} pages, {repeats} runs")
    finally:
        documents.close()
        together.close()


async def _once(
    documents: Documents, together: raw_mupdf.Together, kind: Kind, folder: Path, *, counts: bool
) -> None:
    """Copies, since a child keeps its last documents open."""
    folder.mkdir()
    files = [Path(shutil.copy(path, folder)) for path in kind.files]
    took = (
        await _timed(lambda: _survey(documents, files)),
        await asyncio.to_thread(raw_mupdf.survey, files),
        await asyncio.to_thread(together.survey, files),
        await _timed(lambda: _render(documents, files)),
        await asyncio.to_thread(raw_mupdf.render, files, OPTIONS),
        await asyncio.to_thread(together.render, files, OPTIONS),
    )
    shutil.rmtree(folder)
    if counts:
        kind.survey_s.append(took[0])
        kind.raw_survey_s.append(took[1])
        kind.shared_survey_s.append(took[2])
        kind.render_s.append(took[3])
        kind.raw_render.append(took[4])
        kind.shared_render_s.append(took[5])


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


async def _survey(documents: Documents, files: Sequence[Path]) -> None:
    """In the chunks of the survey activity, as many at once as there are cores."""
    free = asyncio.Semaphore(CORES)

    async def chunk(path: Path, first: int, last: int) -> None:
        async with free:
            await documents.survey(path, first, last)

    async with asyncio.TaskGroup() as group:
        for path in files:
            pages = await documents.inspect(path)
            for number in range(chunk_of(pages) + 1):
                group.create_task(chunk(path, *chunk_pages(number, pages)))


async def _render(documents: Documents, files: Sequence[Path]) -> None:
    free = asyncio.Semaphore(2 * CORES)

    async def draw(path: Path, page: int) -> None:
        async with free:
            await documents.render(path, page, OPTIONS)

    async with asyncio.TaskGroup() as group:
        for path in files:
            for page in range(1, await documents.inspect(path) + 1):
                group.create_task(draw(path, page))


def findings(kinds: Sequence[Kind]) -> Part:
    rows = [kind.row() for kind in kinds]
    table = Table(
        "documents",
        "Pages a second",
        (
            Column("kind", "documents"),
            Column("pages", "pages"),
            Column("survey", "survey", "{:.0f}"),
            Column("shared_survey", f"raw, {CORES} cores", "{:.0f}"),
            Column("survey_of_shared", "ratio", "{:.2f}"),
            Column("raw_survey", "raw, one core", "{:.0f}"),
            Column("survey_of_raw", "ratio", "{:.2f}"),
            Column("render", "draw", "{:.0f}"),
            Column("shared_render", f"raw, {CORES} cores", "{:.0f}"),
            Column("render_of_shared", "ratio", "{:.2f}"),
            Column("raw_render", "raw, one core", "{:.0f}"),
            Column("render_of_raw", "ratio", "{:.2f}"),
            Column("raw_draw_ms", "of raw: draw ms a page", "{:.1f}"),
            Column("raw_encode_ms", "encode ms", "{:.1f}"),
        ),
        rows,
    )
    series = {
        heading: [(kind.name, float(str(row[key]))) for kind, row in zip(kinds, rows, strict=True)]
        for key, heading in (
            ("survey", "survey"),
            ("shared_survey", f"raw survey, {CORES} cores"),
            ("raw_survey", "raw survey, one core"),
            ("render", "draw"),
            ("shared_render", f"raw draw, {CORES} cores"),
            ("raw_render", "raw draw, one core"),
        )
    }
    chart = Chart("documents", "Survey and drawing", "", "pages a second", series)
    missing = (
        ()
        if any(kind.name in KINDS.values() for kind in kinds)
        else ("real documents: the corpus is not at hand",)
    )
    said = [
        f"{words} on {CORES} cores: {_range(rows, f'{work}_of_shared')} times the pages a second "
        f"of raw MuPDF on the same {CORES} cores ({_range(rows, f'{work}_of_raw')} times those of "
        "raw MuPDF on one)."
        for words, work in (("Survey", "survey"), ("Drawing", "render"))
    ]
    title = "Survey and drawing alone"
    return Part("documents", title, METHOD, (table,), (chart,), said, missing)


def _range(rows: Sequence[Row], key: str) -> str:
    values = [float(str(row[key])) for row in rows]
    return f"{min(values):.2f} to {max(values):.2f}"
