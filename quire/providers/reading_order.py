"""From boxes of text scattered over a page to text in the order a person reads it."""

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Box:
    """A piece of text and where it stands, in pixels from the top left."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left


# What separates two columns of prose from a table: enough lines, most of them wide and wordy.
_COLUMN_LINES = 4
_COLUMN_FILL = 0.6
_COLUMN_CHARS = 15
# Titles and rules may span both columns, but not many.
_SPANNING_SHARE = 0.25


def in_reading_order(boxes: list[Box]) -> str:
    """The page's text: a line a row, an empty line where the page leaves one."""
    boxes = [box for box in boxes if box.text.strip()]
    if not boxes:
        return ""
    gutter = _gutter(boxes)
    if gutter is None:
        return _as_lines(boxes)
    parts: list[str] = []
    rest = sorted((b for b in boxes if not _spans(b, gutter)), key=lambda b: b.top)
    for group in _rows([b for b in boxes if _spans(b, gutter)]):
        # All that stands above a spanning line is read before it, column by column.
        middle = (group[0].top + group[0].bottom) / 2
        above = [b for b in rest if b.top < middle]
        rest = [b for b in rest if b.top >= middle]
        parts += [*_columns(above, gutter), _as_lines(group)]
    parts += _columns(rest, gutter)
    return "\n\n".join(part for part in parts if part)


def _columns(boxes: list[Box], gutter: float) -> list[str]:
    left = [box for box in boxes if box.right <= gutter]
    return [_as_lines(left), _as_lines([box for box in boxes if box.right > gutter])]


def _spans(box: Box, x: float) -> bool:
    return box.left < x < box.right


def _gutter(boxes: list[Box]) -> float | None:
    """The x of the empty strip between two columns of prose, if there is one."""
    left, right = min(b.left for b in boxes), max(b.right for b in boxes)
    candidates = [left + (right - left) * step / 100 for step in range(30, 71)]
    crossings = [sum(_spans(box, x) for box in boxes) for x in candidates]
    fewest = min(crossings)
    if fewest > _SPANNING_SHARE * len(boxes):
        return None
    empty = [x for x, crossing in zip(candidates, crossings, strict=True) if crossing == fewest]
    gutter = empty[len(empty) // 2]
    sides = (
        [box for box in boxes if box.right <= gutter],
        [box for box in boxes if box.left >= gutter],
    )
    return gutter if all(_is_column(side) for side in sides) else None


def _is_column(boxes: list[Box]) -> bool:
    if len(boxes) < _COLUMN_LINES:
        return False
    width = max(b.right for b in boxes) - min(b.left for b in boxes)
    fill = median(box.width for box in boxes) / width
    return fill >= _COLUMN_FILL and median(len(box.text) for box in boxes) >= _COLUMN_CHARS


def _as_lines(boxes: list[Box]) -> str:
    rows = _rows(boxes)
    if not rows:
        return ""
    typical = median(box.height for box in boxes)
    lines: list[str] = []
    bottom = None
    for row in rows:
        top = min(box.top for box in row)
        if bottom is not None and top - bottom > typical:
            lines.append("")
        lines.append(" ".join(box.text.strip() for box in row))
        bottom = max(box.bottom for box in row)
    return "\n".join(lines)


def _rows(boxes: list[Box]) -> list[list[Box]]:
    """Boxes that stand on one line, left to right; the lines from top to bottom."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda b: b.top + b.bottom):
        if rows and _on_line(box, rows[-1][0]):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [sorted(row, key=lambda b: b.left) for row in rows]


def _on_line(box: Box, first: Box) -> bool:
    overlap = min(box.bottom, first.bottom) - max(box.top, first.top)
    return overlap > 0.5 * min(box.height, first.height)
