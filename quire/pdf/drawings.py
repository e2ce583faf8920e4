"""Vector graphics, sorted into rules, boxes and strokes, and measured group by group. Pure.

Rules (thin lines), frames and shaded boxes decorate text; many of them together make a table
or a chart; slanted and curved strokes make a figure unless they are small enough for a logo.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quire.pdf.geometry import Box, clusters
from quire.pdf.tables import Word, rows_of, table_rows

_THIN = 3.0
_STRAIGHT = 0.7
_BACKGROUND_SHARE = 0.7
_FIGURE_STROKES = 6
_MANY = 40
_HEADER, _FOOTER = 0.13, 0.90


@dataclass
class Shapes:
    """The drawing elements of a page by kind."""

    across: list[Box] = field(default_factory=list)
    down: list[Box] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    strokes: list[Box] = field(default_factory=list)


@dataclass(frozen=True)
class DrawingSignals:
    """Measurements of the vector graphics of a page, each of the group with the highest value."""

    figure_share: float = 0.0
    grid_lines: tuple[int, int] = (0, 0)
    ruled_rows: int = 0
    empty_boxes: int = 0
    cell_columns: int = 0
    nodes: int = 0


NO_DRAWINGS = DrawingSignals()


def sort_paths(paths: Iterable[Mapping[str, Any]], page: Box) -> Shapes:
    """The elements of MuPDF's paths, without white fills, specks and backgrounds."""
    shapes = Shapes()
    for path in paths:
        if _unseen(path):
            continue
        whole = Box(*path["rect"])
        if whole.clipped(page).area > _BACKGROUND_SHARE * page.area and len(path["items"]) <= 8:
            continue
        if _is_box(path["items"], whole):
            _add_box(shapes, whole)
            continue
        if sum(item[0] == "c" for item in path["items"]) > _MANY:
            # Of an outline of hundreds of curves, only its place matters.
            shapes.strokes.extend([whole] * _FIGURE_STROKES)
            continue
        for item in path["items"]:
            _add_item(shapes, item)
    return shapes


def _unseen(path: Mapping[str, Any]) -> bool:
    def white(colour: Sequence[float] | None, opacity: float | None) -> bool:
        return colour is None or opacity == 0 or min(colour) > 0.97

    return white(path.get("fill"), path.get("fill_opacity")) and white(
        path.get("color"), path.get("stroke_opacity")
    )


def _is_box(items: Sequence[tuple[Any, ...]], whole: Box) -> bool:
    """One rectangle drawn by its sides, with sharp or rounded corners."""
    kinds = Counter(item[0] for item in items)
    if kinds["re"] or kinds["qu"] or not 3 <= kinds["l"] <= 8 or kinds["c"] > 8:
        return False
    lines = [_around(item[1:]) for item in items if item[0] == "l"]
    sides = {
        (edge, at)
        for line in lines
        for edge, at, low, high in (
            ("x", whole.x0, line.x0, line.x1),
            ("x", whole.x1, line.x0, line.x1),
            ("y", whole.y0, line.y0, line.y1),
            ("y", whole.y1, line.y0, line.y1),
        )
        if abs(low - at) < _STRAIGHT and abs(high - at) < _STRAIGHT
    }
    return all(_straight(line) for line in lines) and len(sides) >= 3


def _straight(line: Box) -> bool:
    return line.width < _STRAIGHT or line.height < _STRAIGHT


def _add_item(shapes: Shapes, item: tuple[Any, ...]) -> None:
    kind, points = item[0], item[1:]
    if kind == "re":
        x0, y0, x1, y1 = points[0]  # some producers draw from right to left
        _add_box(shapes, _around([(x0, y0), (x1, y1)]))
    elif kind == "qu":
        _add_box(shapes, _around(points[0]))
    elif kind == "l" and _straight(_around(points)):
        _add_box(shapes, _around(points))
    else:
        shapes.strokes.append(_around(points))


def _around(points: Iterable[tuple[float, float]]) -> Box:
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def _add_box(shapes: Shapes, box: Box) -> None:
    if box.height <= _THIN and box.width >= 12:
        shapes.across.append(box)
    elif box.width <= _THIN and box.height >= 6:
        shapes.down.append(box)
    elif box.width > _THIN and box.height > _THIN:
        shapes.boxes.append(box)


def measure_drawings(shapes: Shapes, page: Box, words: Sequence[Word]) -> DrawingSignals:
    """Group elements that touch, and keep the highest value of each measurement."""
    placed = [
        *((box, shapes.across) for box in shapes.across),
        *((box, shapes.down) for box in shapes.down),
        *((box, shapes.boxes) for box in shapes.boxes),
        *((box, shapes.strokes) for box in shapes.strokes),
    ]
    text = _TextIndex(words)
    scattered = [box for box in dict.fromkeys(map(_rounded, shapes.boxes)) if not text.inside(box)]
    best = DrawingSignals(
        ruled_rows=_ruled_rows(shapes, words),
        # The fields of a form do not touch, so they are counted over the whole page.
        empty_boxes=_empty_boxes(scattered, page) if len(scattered) >= 6 else 0,
    )
    for group in clusters(page, [box for box, _ in placed]):
        across, down, boxes, strokes = (
            [placed[i][0] for i in group if placed[i][1] is kind]
            for kind in (shapes.across, shapes.down, shapes.boxes, shapes.strokes)
        )
        cells = list(dict.fromkeys(_rounded(box) for box in boxes))
        empty = [box for box in cells if not text.inside(box)]
        written = [box for box in cells if text.inside(box)]
        best = DrawingSignals(
            figure_share=max(best.figure_share, _figure_share(strokes, page)),
            grid_lines=max(best.grid_lines, _grid_lines(across, down, page)),
            ruled_rows=best.ruled_rows,
            empty_boxes=max(best.empty_boxes, _empty_boxes(empty, page)),
            cell_columns=max(best.cell_columns, _cell_columns(written)),
            nodes=max(best.nodes, _nodes(written)),
        )
    return best


def _rounded(box: Box) -> Box:
    return Box(*(float(round(v)) for v in box))


def _figure_share(strokes: list[Box], page: Box) -> float:
    if len(strokes) < _FIGURE_STROKES or page.area <= 0:
        return 0.0
    extent = strokes[0]
    for stroke in strokes:
        extent = extent.joined(stroke)
    share = extent.clipped(page).area / page.area
    return share / 3 if in_margin_band(extent, page) else share


def in_margin_band(box: Box, page: Box) -> bool:
    """Whether the box is wholly in the head or foot of the page, as letterheads and logos are."""
    return box.y1 < page.y0 + _HEADER * page.height or box.y0 > page.y0 + _FOOTER * page.height


def _grid_lines(across: list[Box], down: list[Box], page: Box) -> tuple[int, int]:
    """Distinct horizontal lines, and distinct vertical ones strictly between their ends."""
    if not across or not down:
        return (0, 0)
    left, right = min(b.x0 for b in across), max(b.x1 for b in across)
    levels = len({round(b.y0 / 4) for b in across})
    inner = [b for b in down if left + 8 < b.x0 < right - 8]
    if levels < 3:  # long lines separate columns of prose, and meet a rule at the head or foot
        inner = [b for b in inner if b.height < 0.5 * page.height]
    return levels, len({round(b.x0 / 4) for b in inner})


def _ruled_rows(shapes: Shapes, words: Sequence[Word]) -> int:
    """Rows of cells between lines, or over stripes, of equal length, as in printed tables."""
    groups: dict[tuple[int, int], list[Box]] = {}
    for line in (*shapes.across, *shapes.boxes):
        if line.width > 60:
            groups.setdefault((round(line.x0 / 4), round(line.x1 / 4)), []).append(line)
    most = 0
    for lines in groups.values():
        levels = len({round(line.y0 / 4) for line in lines})
        if levels < 2:
            continue
        top, bottom = min(b.y0 for b in lines) - 2, max(b.y1 for b in lines) + 2
        area = Box(lines[0].x0 - 4, top, lines[0].x1 + 4, bottom)
        rows = rows_of([w for w in words if area.holds(*_middle(w.box))])
        most = max(most, table_rows(rows), table_rows(rows, cells=2) - 1 if levels > 2 else 0)
    return most


def _empty_boxes(empty: list[Box], page: Box) -> int:
    """The number of boxes without a word: bars, legends, blank cells; not a strip of tick boxes."""
    if len(empty) < 3:
        return 0
    extent = empty[0]
    for box in empty:
        extent = extent.joined(box)
    return len(empty) if extent.clipped(page).area > 0.015 * page.area else 0


def _cell_columns(written: list[Box]) -> int:
    """Columns of two or more equal boxes with words: cells. Highlighted words differ in width."""
    columns = Counter((round(b.x0 / 3), round(b.x1 / 3)) for b in written)
    return sum(1 for count in columns.values() if count >= 2)


def _nodes(written: list[Box]) -> int:
    """Boxes of words side by side, higher than one line: a diagram, not a stack of notes."""
    tall = [box for box in written if box.height > 18]
    return len(tall) if len({round(b.x0 / 8) for b in tall}) >= 2 else 0


def _middle(box: Box) -> tuple[float, float]:
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


class _TextIndex:
    """Words sorted by height on the page, so that hundreds of boxes can be checked quickly."""

    def __init__(self, words: Sequence[Word]) -> None:
        middles = sorted((_middle(w.box) for w in words), key=lambda m: m[1])
        self._ys = [y for _, y in middles]
        self._xs = [x for x, _ in middles]

    def inside(self, box: Box) -> bool:
        first, last = bisect_left(self._ys, box.y0), bisect_right(self._ys, box.y1)
        return any(box.x0 <= x <= box.x1 for x in self._xs[first:last])
