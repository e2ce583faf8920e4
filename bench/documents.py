"""Survey and drawing alone: our child processes on two cores, against raw MuPDF in one process."""

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import raw
from bench.findings import Chart, Column, Part, Row, Table
from bench.medians import Median
from bench.progress import tell
from documents.reader import Documents
from domain.contracts import ImageOptions
from domain.keys import chunk_of, chunk_pages
from tests import pdfs
from tests.tool import ROOT

CORES = 2
OPTIONS = ImageOptions(dpi=100, color="rgb", format="jpeg", jpeg_quality=70)
# Folders of the corpus, and how their documents are called here.
KINDS = {
    "born_digital_text": "real: born-digital text",
    "mixed_graphics": "real: text and graphics",
    "scanned": "real: scans",
}

METHOD = f"""\
The same pages, on the same {CORES} cores: `documents.reader.Documents` with {CORES} child
processes (limits on time and memory, every answer sent between processes) against raw MuPDF in
one process that may crash. The survey is more than its reference, which takes text, drawings and
images from every page: it also judges words, tables, figures and ink, to say what a page needs.
Drawing is the same work: {OPTIONS.dpi} dpi, JPEG of quality {OPTIONS.jpeg_quality} by Pillow.
In turns, each time on fresh copies, after a first round that does not count; medians. Opening the
documents is part of the time on both sides. {CORES} cores allow a ratio of {CORES}."""


@dataclass
class Kind:
    """Documents of one kind, and the seconds that each run took."""

    name: str
    files: Sequence[Path]
    pages: int
    survey_s: list[float] = field(default_factory=list)
    raw_survey_s: list[float] = field(default_factory=list)
    render_s: list[float] = field(default_factory=list)
    raw_render: list[raw.Drawn] = field(default_factory=list)

    def row(self) -> Row:
        survey, raw_survey = Median.of(self.survey_s).value, Median.of(self.raw_survey_s).value
        render = Median.of(self.render_s).value
        raw_render = Median.of([drawn.seconds for drawn in self.raw_render]).value
        return {
            "kind": self.name,
            "pages": self.pages,
            "runs": len(self.survey_s),
            "survey": self.pages / survey,
            "raw_survey": self.pages / raw_survey,
            "survey_ratio": raw_survey / survey,
            "render": self.pages / render,
            "raw_render": self.pages / raw_render,
            "render_ratio": raw_render / render,
            "raw_draw_ms": 1e3 * self._a_page(drawn.draw_s for drawn in self.raw_render),
            "raw_encode_ms": 1e3 * self._a_page(drawn.encode_s for drawn in self.raw_render),
        }

    def _a_page(self, seconds: Iterable[float]) -> float:
        return Median.of(list(seconds)).value / self.pages


def measure(full: bool, pages: int = 300) -> Part:
    """Quick: 60 generated pages a kind, three runs; full: 300 and five."""
    length = min(pages, 300 if full else 60)
    with tempfile.TemporaryDirectory() as name, _two_cores():
        kinds = [*_generated(Path(name), length), *_real()]
        asyncio.run(_all(kinds, Path(name), 5 if full else 3))
    return findings(kinds)


def _generated(folder: Path, pages: int) -> Iterator[Kind]:
    text = pdfs.text_pdf(folder / "text.pdf", pages)
    chart = pdfs.mixed_pdf(folder / "chart.pdf", 0, pages)
    scans = pdfs.scanned_pdf(folder / "scans.pdf", max(1, pages // 5))
    yield Kind("generated: text", [text], pages)
    yield Kind("generated: text and a chart", [chart], pages)
    yield Kind("generated: scans", [scans], max(1, pages // 5))


def _real() -> Iterator[Kind]:
    corpus = find_corpus()
    for folder, name in KINDS.items() if corpus else ():
        files = sorted((corpus / folder).glob("*.pdf")) if corpus else []
        if files:
            counts = [raw.pymupdf.open(path).page_count for path in files]
            yield Kind(name, files, sum(counts))


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
    documents = Documents(processes=CORES)
    try:
        for kind in kinds:
            for number in range(repeats + 1):
                await _once(documents, kind, folder / f"copies-{number}", counts=number > 0)
            tell(f"{kind.name}: {kind.pages} pages, {repeats} runs")
    finally:
        documents.close()


async def _once(documents: Documents, kind: Kind, folder: Path, *, counts: bool) -> None:
    """Copies, since a child keeps its last documents open."""
    folder.mkdir()
    files = [Path(shutil.copy(path, folder)) for path in kind.files]
    took = (
        await _timed(lambda: _survey(documents, files)),
        await asyncio.to_thread(raw.survey, files),
        await _timed(lambda: _render(documents, files)),
        await asyncio.to_thread(raw.render, files, OPTIONS),
    )
    shutil.rmtree(folder)
    if counts:
        kind.survey_s.append(took[0])
        kind.raw_survey_s.append(took[1])
        kind.render_s.append(took[2])
        kind.raw_render.append(took[3])


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
            Column("raw_survey", "raw MuPDF", "{:.0f}"),
            Column("survey_ratio", "ratio", "{:.2f}"),
            Column("render", "draw", "{:.0f}"),
            Column("raw_render", "raw MuPDF and Pillow", "{:.0f}"),
            Column("render_ratio", "ratio", "{:.2f}"),
            Column("raw_draw_ms", "of raw: draw ms a page", "{:.1f}"),
            Column("raw_encode_ms", "encode ms", "{:.1f}"),
        ),
        rows,
    )
    series = {
        heading: [(kind.name, float(str(row[key]))) for kind, row in zip(kinds, rows, strict=True)]
        for key, heading in (
            ("survey", "survey"),
            ("raw_survey", "raw survey"),
            ("render", "draw"),
            ("raw_render", "raw draw"),
        )
    }
    chart = Chart("documents", "Survey and drawing", "", "pages a second", series)
    missing = (
        ()
        if any(kind.name in KINDS.values() for kind in kinds)
        else ("real documents: the corpus is not at hand",)
    )
    said = (
        f"Survey: {_range(rows, 'survey_ratio')} times raw MuPDF's pages a second; drawing: "
        f"{_range(rows, 'render_ratio')} times."
    )
    title = "Survey and drawing alone"
    return Part("documents", title, METHOD, (table,), (chart,), (said,), missing)


def _range(rows: Sequence[Row], key: str) -> str:
    values = [float(str(row[key])) for row in rows]
    return f"{min(values):.2f} to {max(values):.2f}"
