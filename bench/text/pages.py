"""Pages made by this script, the same at every run, each with its true text and planted checks."""

import io
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from PIL import Image

from bench.text.score import Check
from samples.words import PROSE
from testing.pdfs import pymupdf

A4 = (595.0, 842.0)
SIZE, PITCH = 10.0, 14.0
WORDS: list[str] = sorted(
    {word for word in re.findall("[A-Za-z]+", " ".join(PROSE)) if len(word) > 1}
)
DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


@dataclass(frozen=True)
class TextPage:
    """One page of the document, what is written on it, and what to look for."""

    name: str
    group: str
    truth: str
    checks: tuple[Check, ...]
    pdf: bytes
    #: As tesseract calls it; the other tools are told nothing.
    language: str = "eng"


class Sheet:
    """A page while it is written: what is put on it is also put into its true text."""

    def __init__(self, seed: int, font: Any | None = None) -> None:
        self._random = random.Random(seed)
        self._document = pymupdf.open()
        self._page = self._document.new_page(width=A4[0], height=A4[1])
        self._font = font or pymupdf.Font("tiro")
        self.parts: list[str] = []
        self.checks: list[Check] = []
        self.y = 70.0

    def write(self, x: float, y: float, text: str, size: float = SIZE) -> None:
        writer = pymupdf.TextWriter(self._page.rect)
        writer.append((x, y), text, font=self._font, fontsize=size)
        writer.write_text(self._page)

    def head(self, text: str) -> "Sheet":
        """One large line over the page."""
        self.write(60, self.y, text, 17)
        self.parts.append(text)
        self.y += 34
        return self

    def columns(self, count: int, rows: int, gutter: float = 18.0) -> "Sheet":
        """Prose in columns, wrapped by the width of its letters."""
        width = (A4[0] - 120 - gutter * (count - 1)) / count
        blocks = [self._wrapped(width, rows) for _ in range(count)]
        for column, lines in enumerate(blocks):
            for row, line in enumerate(lines):
                self.write(60 + column * (width + gutter), self.y + PITCH * row, line)
            self.parts.append("\n".join(lines))
        self._plant(blocks)
        self.y += PITCH * rows + 20
        return self

    def table(self, rows: int) -> "Sheet":
        """Labels and numbers without rules; drawn column by column, as some programs do."""
        cells = [
            (f"Item {self._word()} {n}", str(self._random.randint(10, 99)), self._amount())
            for n in range(rows)
        ]
        for column, x in enumerate((60.0, 300.0, 430.0)):
            for row in reversed(range(rows)):
                self.write(x, self.y + 20 * row, cells[row][column])
        for label, number, amount in cells:
            self.parts.append(f"{label} {number} {amount}")
            self.checks += [Check("cell", label, number), Check("cell", label, amount)]
        self.checks.append(Check("order", cells[0][0], cells[-1][0]))
        self.y += 20 * rows + 20
        return self

    def _plant(self, blocks: list[list[str]]) -> None:
        for lines in blocks:
            middle = lines[len(lines) // 2]
            self.checks.append(Check("present", middle))
            self.checks.append(Check("order", lines[0], lines[-1]))
        for left, right in pairwise(blocks):
            self.checks.append(Check("order", left[-1], right[0]))
            # What is read across the gutter.
            across = f"{left[2].split()[-1]} {right[2].split()[0]} {right[2].split()[1]}"
            if across not in " ".join(" ".join(lines) for lines in blocks):
                self.checks.append(Check("absent", across))

    def _wrapped(self, width: float, rows: int) -> list[str]:
        lines: list[str] = []
        line = ""
        while len(lines) < rows:
            word = self._word()
            longer = f"{line} {word}".strip()
            if self._font.text_length(longer, SIZE) > width:
                lines.append(line)
                longer = word
            line = longer
        return lines

    def _word(self) -> str:
        return self._random.choice(WORDS)

    def _amount(self) -> str:
        return f"{self._random.randint(1000, 9999):,}.{self._random.randint(10, 99)}"

    @property
    def truth(self) -> str:
        return "\n".join(self.parts)

    def pdf(self) -> bytes:
        return bytes(self._document.tobytes())

    def scan(self, *, turn: float = 0.0, dpi: int = 200, paper: tuple[float, float] = A4) -> bytes:
        """The page as a picture, turned, on paper of any size."""
        pixels = self._page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
        image = Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)
        image = image.rotate(turn, Image.Resampling.BICUBIC, expand=turn % 90 == 0, fillcolor=255)
        if image.width > image.height:
            paper = (paper[1], paper[0])
        out = io.BytesIO()
        image.save(out, "JPEG", quality=85)
        document = pymupdf.open()
        page = document.new_page(width=paper[0], height=paper[1])
        page.insert_image(page.rect, stream=out.getvalue())
        return bytes(document.tobytes())


def write_document(pages: Sequence[TextPage], path: Path) -> None:
    """All pages as one document: what a tool needs to start is paid once."""
    with pymupdf.open() as document:
        for page in pages:
            with pymupdf.open("pdf", page.pdf) as one:
                document.insert_pdf(one)
        document.save(path, no_new_id=True)


def generated(*, full: bool) -> Iterator[TextPage]:
    """Every kind of page, once; the full set has three of each, with other words."""
    for seed in range(3 if full else 1):
        yield from _layouts(seed)
        yield from _scans(seed)
        yield from _scripts(seed)


def _layouts(seed: int) -> Iterator[TextPage]:
    for name, make in _SHAPES.items():
        sheet = make(Sheet(100 + seed))
        yield _page(name, "text layer", sheet, sheet.pdf())
        yield _page(f"{name}, scanned", "scan", sheet, sheet.scan())


def _scans(seed: int) -> Iterator[TextPage]:
    one = Sheet(200 + seed).head("A page that was put in askew").columns(1, 28)
    for turn in (90.0, 180.0, 270.0):
        yield _page(f"turned by {turn:.0f}", "turned scan", one, one.scan(turn=turn))
    two = Sheet(300 + seed).head("Two columns on a slanted page").columns(2, 30)
    for turn in (1.0, -2.0, 3.0):
        yield _page(f"slanted by {turn:.0f}", "slanted scan", two, two.scan(turn=turn))
    small = Sheet(400 + seed).head("A small page of many pixels").columns(1, 28)
    yield _page("small paper", "small paper", small, small.scan(paper=(120.0, 170.0)))


def _scripts(seed: int) -> Iterator[TextPage]:
    vertical = [
        "吾輩は猫である名前はまだ無い",
        "どこで生れたかとんと見当がつ",
        "かぬ何でも薄暗いじめじめした",
    ]
    sheet = Sheet(500 + seed, pymupdf.Font("cjk"))
    for column, text in enumerate(vertical):
        for row, letter in enumerate(text):
            sheet.write(500 - 30 * column, 100 + 18 * row, letter, 16)
    sheet.parts = vertical
    sheet.checks = [Check("order", vertical[0], vertical[2]), Check("present", vertical[1])]
    yield _page("Japanese columns", "script", sheet, sheet.pdf(), "jpn_vert")
    for (name, language), lines in _LINES.items():
        if not DEJAVU.exists():
            return
        sheet = Sheet(600 + seed, pymupdf.Font(fontfile=str(DEJAVU)))
        for row, line in enumerate(lines):
            sheet.write(60, 100 + 20 * row, line, 13)
        sheet.parts = list(lines)
        sheet.checks = [Check("order", lines[0], lines[-1]), *(Check("present", a) for a in lines)]
        yield _page(name, "script", sheet, sheet.pdf(), language)
        yield _page(f"{name}, scanned", "script, scan", sheet, sheet.scan(), language)


def _page(name: str, group: str, sheet: Sheet, pdf: bytes, language: str = "eng") -> TextPage:
    return TextPage(name, group, sheet.truth, tuple(sheet.checks), pdf, language)


_LINES = {
    ("Russian", "rus"): (
        "Смотритель гавани ведёт журнал",
        "Каждый корабль записан в нём",
        "Погода тоже",
    ),
    ("Greek", "ell"): ("Ο λιμενάρχης κρατά ημερολόγιο", "Κάθε πλοίο γράφεται εκεί", "και ο καιρός"),
}
_SHAPES: dict[str, Callable[[Sheet], Sheet]] = {
    "one column": lambda s: s.head("One column of plain prose").columns(1, 40),
    "two columns under a head": lambda s: s.head("A head over both columns").columns(2, 40),
    "wide text, then columns": lambda s: (
        s.head("An abstract and its article").columns(1, 14).columns(2, 24)
    ),
    "three columns": lambda s: s.head("Three columns of a newspaper").columns(3, 38),
    "table": lambda s: s.head("A table without rules").columns(1, 4).table(9),
}
