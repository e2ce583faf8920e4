"""The tools: each turns a PDF into a text a page, as a person at a shell would have it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.environments import CannotInstall, environment, python
from testing.pdfs import pymupdf
from testing.tool import ROOT

WITHIN_S = 1800.0
TESSERACT_DPI = 300
_DRIVER = Path(__file__).parent / "drivers" / "run_pymupdf4llm.py"
_HEADING = re.compile(r"^=== Page (\d+) ===$", re.MULTILINE)
# Where these are set, Quire would not be what it is without a key.
_VENDORS = re.compile("API_KEY|BASE_URL|^QUIRE_|TEMPORAL_")


class CannotRead(Exception):
    """Why a tool is left out here, in a line."""


@dataclass(frozen=True)
class Reader:
    """A tool, and how it reads a document."""

    name: str
    read: Callable[[Path, Sequence[str]], list[str]]


@dataclass(frozen=True)
class Texts:
    """The pages as a tool gave them."""

    name: str
    pages: list[str]


def readers(before: Path | None) -> list[Reader]:
    """Every tool, with an older Quire before today's if there is one."""
    ours = [Reader("Quire", lambda pdf, _: quire(pdf, ROOT))]
    if before is not None:
        ours.insert(0, Reader("Quire before", lambda pdf, _: quire(pdf, before)))
    return [
        *ours,
        Reader("tesseract", tesseract),
        Reader("PyMuPDF", lambda pdf, _: plain_mupdf(pdf)),
        Reader("pymupdf4llm", lambda pdf, _: pymupdf4llm(pdf)),
    ]


def quire(pdf: Path, tree: Path) -> list[str]:
    """The tool of a source tree, embedded and without any key."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        out = Path(folder) / "out"
        given = {name: text for name, text in os.environ.items() if not _VENDORS.search(name)}
        own = {"STATE_DIR": f"{folder}/state", "QUIRE_CONFIG": "none"}
        command = [sys.executable, "starter.py", "process", str(pdf), "--out", str(out)]
        _run([*command, "--deadline", "25m"], tree, {**given, **own})
        text = (out / "text.txt").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return parts[1::2]


def tesseract(pdf: Path, languages: Sequence[str]) -> list[str]:
    """Page by page, with its own search for orientation where it has the data for it."""
    if shutil.which("tesseract") is None:
        raise CannotRead("it is not installed (Debian: tesseract-ocr tesseract-ocr-osd)")
    known = _run(["tesseract", "--list-langs"], ROOT, dict(os.environ)).split()
    mode = "1" if "osd" in known else "3"
    # One page a core is faster than one page on all.
    given = {**os.environ, "OMP_THREAD_LIMIT": "1"}

    def read(picture: Path, language: str) -> str:
        chosen = language if language in known else "eng"
        return _run(["tesseract", str(picture), "-", "-l", chosen, "--psm", mode], ROOT, given)

    with (
        tempfile.TemporaryDirectory() as folder,
        pymupdf.open(pdf) as document,
        ThreadPoolExecutor(os.cpu_count()) as side_by_side,
    ):
        pictures = [Path(folder) / f"{page.number}.png" for page in document]
        for page, picture in zip(document, pictures, strict=True):
            page.get_pixmap(dpi=TESSERACT_DPI).save(picture)
        return list(side_by_side.map(read, pictures, languages))


def plain_mupdf(pdf: Path) -> list[str]:
    """The text layer as MuPDF gives it."""
    with pymupdf.open(pdf) as document:
        return [page.get_text() for page in document]


def pymupdf4llm(pdf: Path) -> list[str]:
    """Markdown, with what the library brings by itself."""
    try:
        place = environment("pymupdf4llm", ["pymupdf4llm==1.28.2"], (), install=True)
    except CannotInstall as reason:
        raise CannotRead(str(reason)) from None
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pages.json"
        _run([str(python(place)), str(_DRIVER), str(pdf), str(out)], ROOT, dict(os.environ))
        return [str(text) for text in json.loads(out.read_text(encoding="utf-8"))]


def _run(command: list[str], folder: Path, given: dict[str, str]) -> str:
    ran = subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, timeout=WITHIN_S
    )
    if ran.returncode != 0:
        raise CannotRead(f"it ended with {ran.returncode}: {ran.stderr.strip()[-200:]}")
    return ran.stdout
