"""Tables, found by the places of words: rows of short cells that line up. Pure.

MuPDF's own `find_tables` costs 150 to 540 ms a page; this costs about one.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from quire.pdf.geometry import Box

_NUMBER = re.compile(
    r"^[(\[<>~≈±+\-–−$€£¥]*\d[\d.,:/×x%‰ \-–−+e]*[)\]%*†‡]*$|^[-–—−]+$|^n/?a$", re.I
)
# The start of a list item, a reference or a line of contents is not a column.
_LABEL = re.compile(
    r"^(\(?\[?[\divxlc]{1,6}[.)\]]?|\(?[a-z][.)]|[\d.]{1,12}|[•▪●○◦–—\-*·■])$", re.I
)
_LEADER = re.compile(r"^[.…·_\-–— ]{3,}$")
_SHORT_CELL = 22
_ALIGNED_PT = 4.0


class Word(NamedTuple):
    """A word, or a run of words, and its place."""

    box: Box
    text: str


def join_words(words: Iterable[tuple[Any, ...]]) -> list[Word]:
    """MuPDF's words, joined to lines; MuPDF ends a line at every gap wider than 0.8 em."""
    lines: dict[tuple[int, int], list[Any]] = {}
    for x0, y0, x1, y1, text, block, line, _ in words:
        known = lines.get((block, line))
        if known is None:
            lines[block, line] = [x0, y0, x1, y1, [text]]
            continue
        known[0], known[1] = min(known[0], x0), min(known[1], y0)
        known[2], known[3] = max(known[2], x1), max(known[3], y1)
        known[4].append(text)
    return [Word(Box(*known[:4]), " ".join(known[4])) for known in lines.values()]


class Cell(NamedTuple):
    """Words of one row with no wide gap between them."""

    x0: float
    x1: float
    text: str

    @property
    def numeric(self) -> bool:
        """Whether it holds a number, or a mark for a missing one."""
        return bool(_NUMBER.match(self.text))

    @property
    def short(self) -> bool:
        """Whether it is short enough for a cell of a table."""
        return len(self.text) <= _SHORT_CELL


class Row(NamedTuple):
    """Cells on one line of the page."""

    y0: float
    y1: float
    cells: tuple[Cell, ...]


def rows_of(words: Sequence[Word]) -> list[Row]:
    """Words on one line form a row; wide gaps divide a row into cells."""
    upright = [w for w in words if w.box.height > 0 and not _LEADER.match(w.text)]
    rows: list[list[Word]] = []
    for word in sorted(upright, key=lambda w: w.box.y0 + w.box.y1):
        middle = (word.box.y0 + word.box.y1) / 2
        # A row is at most as high as its first word, or a column of text would become one row.
        if rows and middle <= rows[-1][0].box.y1 - 0.3 * rows[-1][0].box.height:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [_row(row) for row in rows]


def _row(words: list[Word]) -> Row:
    words.sort(key=lambda w: w.box.x0)
    heights = sorted(w.box.height for w in words)
    gap = 1.1 * heights[len(heights) // 2]
    cells: list[Cell] = []
    for word in words:
        if cells and word.box.x0 - cells[-1].x1 < gap:
            last = cells[-1]
            cells[-1] = Cell(last.x0, max(last.x1, word.box.x1), f"{last.text} {word.text}")
        else:
            cells.append(Cell(word.box.x0, word.box.x1, word.text))
    if len(cells) > 1 and _LABEL.match(cells[0].text) and not cells[1].short:
        cells = cells[1:]
    return Row(min(w.box.y0 for w in words), max(w.box.y1 for w in words), tuple(cells))


def table_rows(rows: Sequence[Row], *, cells: int = 3) -> int:
    """Rows with at least `cells` short cells that line up with the row before or after."""
    tabular = [_tabular(row, cells) for row in rows]
    count = 0
    for index, row in enumerate(tabular):
        near = [r for r in tabular[max(0, index - 2) : index + 3] if r is not None and r is not row]
        if row is not None and any(_aligned(row, other) >= cells - 1 for other in near):
            count += 1
    return count


def numeric_rows(rows: Sequence[Row]) -> int:
    """Of the rows of three and more short cells that line up, those that are mostly numbers."""
    return table_rows([row for row in rows if _numeric(row)])


def _tabular(row: Row, cells: int) -> Row | None:
    return row if sum(cell.short for cell in row.cells) >= cells else None


def _numeric(row: Row) -> bool:
    short = [cell for cell in row.cells if cell.short]
    return sum(cell.numeric for cell in short) >= max(2, 0.4 * len(short))


def _aligned(row: Row, other: Row) -> int:
    """How many cells share a left edge, a right edge or a middle with a cell of the other row."""
    return sum(
        any(
            abs(a.x0 - b.x0) < _ALIGNED_PT
            or abs(a.x1 - b.x1) < _ALIGNED_PT
            or abs(a.x0 + a.x1 - b.x0 - b.x1) < 2 * _ALIGNED_PT
            for b in other.cells
            if b.short
        )
        for a in row.cells
        if a.short
    )
