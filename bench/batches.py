"""Many documents: a batch against a bare loop and `xargs -P`, for text and for vision."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench.commands import WITHIN_S, WrongRun, check_calls, prepare
from bench.findings import Column, Part, Row, Table
from bench.stage import settings_for
from bench.usage import cpu_of, own_peak
from testing import pdfs
from testing.tool import ROOT, Tool, own_environment
from testing.vendor.process import StandInProcess

SLOTS = 8
LATENCY_S = 0.3
VISION_PAGES = 10
WINDOW = 20
METHOD = f"""\
One-page PDFs of text, and documents of {VISION_PAGES} pages that all need a model, whose calls
take {LATENCY_S} s with {SLOTS} at once. Quire is `batch start` on a machine that has never seen it,
with a window of {WINDOW}; its clock runs from the start of the workflow to the written result, and
the whole command is beside it. The bare loop is `bench/bare_batch.py`: MuPDF's text in a process a
core, or one event loop with {SLOTS} calls; no durability, no store. `xargs -P` runs the same script
once a document. CPU is that of all processes, the server's among them."""


@dataclass(frozen=True)
class Case:
    """So many documents of one kind."""

    kind: str
    documents: int

    @property
    def pages(self) -> int:
        return self.documents * (VISION_PAGES if self.kind == "vision" else 1)


QUICK = (Case("text", 200), Case("vision", 20))
FULL = (Case("text", 1000), Case("vision", 200))


def measure(full: bool, pages: int | None = None) -> Part:
    """`pages` makes both cases that small, for a first look."""
    cases: tuple[Case, ...] = FULL if full else QUICK
    if pages:
        cases = tuple(Case(c.kind, max(2, pages // (c.pages // c.documents))) for c in cases)
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        rows = [_case(case, Path(name) / case.kind, vendor) for case in cases]
    return findings(rows)


def _case(case: Case, folder: Path, vendor: StandInProcess) -> Row:
    sources = folder / "in"
    make_documents(case, sources)
    prepare(vendor, LATENCY_S)
    row = _batch(case, sources, folder / "state", vendor)
    check_calls(vendor, case.pages if case.kind == "vision" else 0)
    bare_s = _bare(case, sources, folder / "bare", vendor)
    xargs_s = _xargs(case, sources, folder / "xargs", vendor)
    return {
        **row,
        "bare_s": bare_s,
        "xargs_s": xargs_s,
        "of_bare": bare_s / float(row["seconds"] or 1),
        "of_xargs": xargs_s / float(row["seconds"] or 1),
    }


def make_documents(case: Case, folder: Path) -> None:
    """No two with the same bytes."""
    folder.mkdir(parents=True)
    if case.kind == "text":
        whole = pdfs.text_pdf(folder / "one")
    else:
        whole = pdfs.mixed_pdf(folder / "one", 0, VISION_PAGES)
    content = whole.read_bytes()
    whole.unlink()
    for number in range(case.documents):
        (folder / f"{number:05d}.pdf").write_bytes(content + f"\n% {number}\n".encode())


def _batch(case: Case, sources: Path, state: Path, vendor: StandInProcess) -> Row:
    tool = Tool(state, vendor, **{**settings_for(SLOTS), "WORKER_CONCURRENCY": "16"})
    started = time.perf_counter()
    running = tool.start("batch", "start", sources, "--json", "--window", str(WINDOW))
    with _looked_at(running) as look:
        out, err = running.communicate(timeout=WITHIN_S)
    wall = time.perf_counter() - started
    if running.returncode:
        raise WrongRun(f"the batch ended with {running.returncode}: {err.strip()[-300:]}")
    result = json.loads(out)
    if result["counts"]["done"] != case.documents or result["pages"] != case.pages:
        raise WrongRun(f"the batch read {result['counts']}")
    times = [datetime.fromisoformat(result[name]) for name in ("started_at", "completed_at")]
    seconds = (times[1] - times[0]).total_seconds()
    database = (state / "temporal.db").stat().st_size
    return {
        "kind": case.kind,
        "documents": case.documents,
        "pages": case.pages,
        "seconds": seconds,
        "wall_s": wall,
        "a_second": case.documents / seconds,
        "cpu_ms": 1e3 * look.cpu_s / case.documents,
        "peak_mb": look.peak_bytes / 1e6,
        "history_kb": database / case.documents / 1e3,
    }


class _Look:
    """CPU of a tree of processes, and the memory of its root, as last seen."""

    cpu_s = 0.0
    peak_bytes = 0


@contextmanager
def _looked_at(process: "subprocess.Popen[str]") -> Iterator[_Look]:
    """The server has a session of its own and is a child all the same."""
    look, ended = _Look(), threading.Event()

    def run() -> None:
        while not ended.wait(0.25):
            look.cpu_s = max(look.cpu_s, cpu_of(process.pid).total)
            look.peak_bytes = max(look.peak_bytes, own_peak(process.pid) or 0)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield look
    finally:
        ended.set()
        thread.join()


def _bare(case: Case, sources: Path, target: Path, vendor: StandInProcess) -> float:
    prepare(vendor, LATENCY_S)
    ran = subprocess.run(
        [*_script(case), str(sources), str(target), vendor.openai_url, str(SLOTS)],
        cwd=ROOT, env=own_environment(), check=True, stdout=subprocess.PIPE, timeout=WITHIN_S,
    )  # fmt: skip
    return float(json.loads(ran.stdout)["seconds"])


def _xargs(case: Case, sources: Path, target: Path, vendor: StandInProcess) -> float:
    """As many processes as there are cores, which share the slots out."""
    prepare(vendor, LATENCY_S)
    cores = os.cpu_count() or 2
    words = [*_script(case), "{}", str(target), vendor.openai_url, str(SLOTS // cores)]
    names = "\n".join(str(path) for path in sorted(sources.glob("*.pdf")))
    started = time.perf_counter()
    subprocess.run(
        ["xargs", "-P", str(cores), "-I", "{}", *words],
        cwd=ROOT, env=own_environment(), check=True, input=names, text=True,
        stdout=subprocess.DEVNULL, timeout=2 * WITHIN_S,
    )  # fmt: skip
    return time.perf_counter() - started


def _script(case: Case) -> list[str]:
    return [sys.executable, "-m", "bench.bare_batch", case.kind]


def findings(rows: list[Row]) -> Part:
    """The table, and what it says of the two promises."""
    columns = (
        Column("kind", "documents of"),
        Column("documents", "documents"),
        Column("pages", "pages"),
        Column("seconds", "Quire, s", "{:.1f}"),
        Column("wall_s", "whole command, s", "{:.1f}"),
        Column("bare_s", "bare loop, s", "{:.1f}"),
        Column("xargs_s", "xargs -P, s", "{:.1f}"),
        Column("of_bare", "of the bare loop's speed", "{:.2f}"),
        Column("a_second", "documents/s", "{:.1f}"),
        Column("cpu_ms", "CPU ms a document", "{:.0f}"),
        Column("peak_mb", "peak memory, MB", "{:.0f}"),
        Column("history_kb", "database KB a document", "{:.0f}"),
    )
    said = []
    for row in rows:
        if row["kind"] == "vision":
            kept = "kept" if float(row["of_bare"] or 0) >= 0.8 else "NOT kept"
            said.append(f"0.8 of the bare loop at {LATENCY_S} s: {row['of_bare']:.2f}, {kept}")
        else:
            cores = os.cpu_count() or 1
            bound = 1e3 * cores / float(row["cpu_ms"] or 1)
            kept = "kept" if float(row["a_second"] or 0) >= 25 else "NOT kept"
            said.append(
                f"25 text documents a second: {row['a_second']:.1f}, {kept}; {cores} cores allow "
                f"{bound:.1f} at {row['cpu_ms']:.0f} ms of CPU a document"
            )
    table = Table("batches", "A batch, a bare loop and xargs", columns, rows)
    return Part("batches", "Many documents", METHOD, tables=(table,), said=tuple(said))
