"""The order in which a person reads a page: bands from the top, and in each band its columns.

pymupdf4llm was weighed and left: its layout model reads pages of PDFs, and the boxes of an OCR
engine would still need rules of their own.
"""

from collections.abc import Iterator, Sequence

from quire.domain.layout.box import Box, letter_height
from quire.domain.layout.gutter import split_at_gutter
from quire.domain.layout.rows import rows_of, text_of
from quire.domain.layout.script import runs_leftwards
from quire.domain.layout.vertical import lay_down

# Columns in bands in columns in bands: no page is deeper, and a hostile one need not be read.
_DEPTH = 8
# A page with more pieces is a map or a plan; they are read row by row.
_MOST_BOXES = 4000
# Running heads and page numbers stand apart from the text by so many letter heights.
_APART = 1.0
_HEAD_ROWS = 2


def in_reading_order(boxes: Sequence[Box]) -> str:
    """The page's text: a line a row, an empty line where the page leaves one."""
    boxes = [box for box in boxes if box.text.strip()]
    if not boxes:
        return ""
    if len(boxes) > _MOST_BOXES:
        return text_of(boxes)
    laid_down = lay_down(boxes)
    if laid_down is not None:
        boxes = laid_down
    leftwards = laid_down is None and runs_leftwards(box.text for box in boxes)
    head, body, foot = _running_heads(boxes)
    parts = [head, *_parts(body, leftwards, _DEPTH), foot]
    return "\n\n".join(text for part in parts if (text := text_of(part)))


def _parts(boxes: Sequence[Box], leftwards: bool, depth: int) -> Iterator[Sequence[Box]]:
    """Parts of the page without columns, in reading order."""
    bands = split_at_gutter(boxes) if depth and boxes else None
    if bands is None:
        yield boxes
        return
    for band in bands:
        sides = (band.right, band.left) if leftwards else (band.left, band.right)
        for part in (band.boxes, *sides):
            if part:
                yield from _parts(part, leftwards, depth - 1)


def _running_heads(boxes: Sequence[Box]) -> tuple[list[Box], list[Box], list[Box]]:
    """The first lines and the last, if they stand apart: they belong to no column."""
    groups: list[list[Box]] = []
    bottom = float("-inf")
    apart = _APART * letter_height(boxes)
    for box in sorted(boxes, key=lambda b: b.top):
        if not groups or box.top - bottom > apart:
            groups.append([])
        groups[-1].append(box)
        bottom = max(bottom, box.bottom)
    head: list[Box] = []
    foot: list[Box] = []
    if len(groups) > 1 and len(rows_of(groups[0])) <= _HEAD_ROWS:
        head = groups.pop(0)
    if len(groups) > 1 and len(rows_of(groups[-1])) <= _HEAD_ROWS:
        foot = groups.pop()
    return head, [box for group in groups for box in group], foot
