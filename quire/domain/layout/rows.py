"""Boxes that stand beside each other, as rows; and rows as lines of text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from quire.domain.layout.box import Box, letter_height
from quire.domain.layout.script import column_letters, runs_leftwards

# A paragraph ends at a gap that is large beside the letters and beside the gaps before it.
_GAP_HEIGHTS = 1.0
_GAP_TIMES = 1.5
# An initial that is so much higher than a line stands over several of them.
_INITIAL_HEIGHTS = 1.8
_NO_SPACE_HEIGHTS = 0.5
_SAME_PLACE = 0.4


class Initial(Box):
    """The large first letter of a paragraph, cut to the first of the lines beside it."""


@dataclass(frozen=True)
class Row:
    """Boxes on one line, from the left."""

    boxes: tuple[Box, ...]

    @property
    def top(self) -> float:
        """Of its highest box."""
        return min(box.top for box in self.boxes)

    @property
    def bottom(self) -> float:
        """Of its lowest box."""
        return max(box.bottom for box in self.boxes)


def rows_of(boxes: Sequence[Box]) -> list[Row]:
    """Boxes that stand on one line, left to right; the lines from top to bottom."""
    if not boxes:
        return []
    height = letter_height(boxes)
    placed = [_at_its_line(box, height) for box in boxes]
    placed.sort(key=lambda b: (b.middle, b.left))
    rows: list[_GrowingRow] = []
    for box in placed:
        if rows and rows[-1].takes(box):
            rows[-1].add(box)
        else:
            rows.append(_GrowingRow(box))
    return [Row(tuple(sorted(row.boxes, key=lambda b: b.left))) for row in rows]


def _at_its_line(box: Box, height: float) -> Box:
    if box.height > _INITIAL_HEIGHTS * height and len(box.text.strip()) == 1:
        return Initial(box.left, box.top, box.right, box.top + height, box.text)
    return box


class _GrowingRow:
    """A row while boxes are added to it, and how far it reaches to both sides."""

    def __init__(self, box: Box) -> None:
        self.boxes = [box]
        self._left, self._right = box.left, box.right

    def add(self, box: Box) -> None:
        self.boxes.append(box)
        self._left, self._right = min(self._left, box.left), max(self._right, box.right)

    def takes(self, box: Box) -> bool:
        # The row's first box and its last: a line that is bent goes on where its last box is.
        if not (_level(box, self.boxes[-1]) or _level(box, self.boxes[0])):
            return False
        beside = box.left >= self._right or box.right <= self._left
        return beside or not any(_in_its_way(box, other) for other in self.boxes)


def _level(box: Box, other: Box) -> bool:
    overlap = min(box.bottom, other.bottom) - max(box.top, other.top)
    return overlap > 0.5 * min(box.height, other.height)


def _in_its_way(box: Box, other: Box) -> bool:
    """Whether both take the same place in a line: then one is above the other."""
    shared = min(box.right, other.right) - max(box.left, other.left)
    return shared > _SAME_PLACE * min(box.width, other.width)


def text_of(boxes: Sequence[Box]) -> str:
    """A line a row, and an empty line where the page leaves one."""
    rows = rows_of(boxes)
    if not rows:
        return ""
    gaps = [below.top - above.bottom for above, below in pairwise(rows)]
    usual = max(0.0, median(gaps)) if len(gaps) > 1 else 0.0
    wide = max(_GAP_HEIGHTS * letter_height(boxes), _GAP_TIMES * usual)
    lines = [_line(rows[0])]
    for row, gap in zip(rows[1:], gaps, strict=True):
        if gap > wide:
            lines.append("")
        lines.append(_line(row))
    return "\n".join(lines)


def _line(row: Row) -> str:
    boxes = list(row.boxes)
    if len(boxes) == 1:
        return boxes[0].text.strip()
    if runs_leftwards(box.text for box in boxes):
        boxes.reverse()
    line = boxes[0].text.strip()
    for last, box in pairwise(boxes):
        text = box.text.strip()
        line += text if _joined(last, box) else f" {text}"
    return line


def _joined(last: Box, box: Box) -> bool:
    """Whether nothing is between two boxes: an initial and its word, or two ideographs."""
    before, after = last.text.strip(), box.text.strip()
    gap = max(box.left, last.left) - min(last.right, box.right)
    if gap > _NO_SPACE_HEIGHTS * min(last.height, box.height):
        return False
    if column_letters(before[-1]) and column_letters(after[0]):
        return True
    return isinstance(last, Initial) and before.isupper() and after[0].islower()
