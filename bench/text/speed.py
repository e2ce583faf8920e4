"""How fast tools read scans: one document, in turns, so that a busy machine is busy for all."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.progress import print_progress
from bench.text.pages import TextPage, write_document
from bench.text.readers import CannotRead, Reader

TIMED = ("Quire", "tesseract")
_ROUNDS = 2
# Kinds of pages that every one of them has to read from pictures, in letters that all can read.
_KINDS = ("scan", "slanted scan", "corpus, scanned")


@dataclass(frozen=True)
class Speed:
    """Pages a second, round by round."""

    name: str
    rounds: list[float]


def measure_speeds(tools: Sequence[Reader], pages: Sequence[TextPage], folder: Path) -> list[Speed]:
    """Let each tool read the scans in turn; one that cannot read is left out."""
    scans = [page for page in pages if page.group in _KINDS]
    pdf = folder / "scans.pdf"
    write_document(scans, pdf)
    languages = [page.language for page in scans]
    seconds: dict[str, list[float]] = {tool.name: [] for tool in tools}
    for number in range(_ROUNDS):
        for tool in tools:
            print_progress(f"{tool.name}: {len(scans)} scans, round {number + 1}")
            began = time.monotonic()
            try:
                tool.read(pdf, languages)
            except CannotRead:
                continue
            seconds[tool.name].append(time.monotonic() - began)
    return [
        Speed(name, [len(scans) / each for each in taken])
        for name, taken in seconds.items()
        if len(taken) == _ROUNDS
    ]
