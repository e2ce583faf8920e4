"""Rectangles on a page: how much of it they cover, and which of them belong together. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

COLUMNS, ROWS = 48, 64


class Box(NamedTuple):
    """A rectangle in points, y pointing down."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """In points; negative for an inverted box."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """In points; negative for an inverted box."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """In square points; 0 for an inverted box."""
        return max(0.0, self.width) * max(0.0, self.height)

    def clipped(self, other: "Box") -> "Box":
        """The part inside `other`; empty, but never inverted, if there is none."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        return Box(x0, y0, max(x0, min(self.x1, other.x1)), max(y0, min(self.y1, other.y1)))

    def joined(self, other: "Box") -> "Box":
        """The smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )

    def holds(self, x: float, y: float) -> bool:
        """Whether the point is inside or on the edge."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


class Grid:
    """A page as a coarse raster, one integer a row, which makes unions and neighbours cheap."""

    def __init__(self, page: Box) -> None:
        self._page = page
        self._rows = [0] * ROWS

    def span(self, box: Box) -> tuple[int, int, int, int]:
        """The cells a box touches, as first and last column, first and last row."""
        page = self._page
        sx, sy = COLUMNS / max(page.width, 1e-6), ROWS / max(page.height, 1e-6)

        def cell(value: float, count: int) -> int:
            return min(count - 1, max(0, int(value)))

        return (
            cell((box.x0 - page.x0) * sx, COLUMNS),
            cell((box.x1 - page.x0) * sx, COLUMNS),
            cell((box.y0 - page.y0) * sy, ROWS),
            cell((box.y1 - page.y0) * sy, ROWS),
        )

    def mark(self, box: Box) -> None:
        """Mark every cell that the box touches."""
        c0, c1, r0, r1 = self.span(box)
        mask = ((1 << (c1 - c0 + 1)) - 1) << c0
        for row in range(r0, r1 + 1):
            self._rows[row] |= mask

    def islands(self) -> "Islands":
        """The groups of marked cells that touch, also diagonally."""
        return Islands(self._rows)


class Islands:
    """The connected groups of cells of a raster, found by runs of cells."""

    def __init__(self, rows: Sequence[int]) -> None:
        self._parent: list[int] = []
        self._runs: list[list[tuple[int, int, int]]] = []
        above: list[tuple[int, int, int]] = []
        for bits in rows:
            above = [self._add(first, last, above) for first, last in _runs(bits)]
            self._runs.append(above)

    def of(self, column: int, row: int) -> int:
        """The number of a marked cell's island."""
        return next(
            self._root(island) for first, last, island in self._runs[row] if first <= column <= last
        )

    def _add(
        self, first: int, last: int, above: list[tuple[int, int, int]]
    ) -> tuple[int, int, int]:
        own = len(self._parent)
        self._parent.append(own)
        for start, end, island in above:
            if start <= last + 1 and end >= first - 1:
                self._parent[self._root(island)] = own
        return first, last, own

    def _root(self, island: int) -> int:
        while self._parent[island] != island:
            self._parent[island] = self._parent[self._parent[island]]
            island = self._parent[island]
        return island


def _runs(bits: int) -> Iterator[tuple[int, int]]:
    """First and last column of every stretch of ones."""
    start = 0
    while bits:
        gap = (bits & -bits).bit_length() - 1
        bits >>= gap
        length = (~bits & (bits + 1)).bit_length() - 1
        bits >>= length
        yield start + gap, start + gap + length - 1
        start += gap + length


def covered_share(page: Box, boxes: Iterable[Box]) -> float:
    """The share of the page under the union of the boxes, exact for few and summed for many."""
    parts = [part for box in boxes if (part := box.clipped(page)).area > 0]
    if not parts or page.area <= 0:
        return 0.0
    if len(parts) > 200:  # the exact sum is quadratic; hundreds of scraps hardly overlap
        return min(1.0, sum(part.area for part in parts) / page.area)
    return _union_area(parts) / page.area


def _union_area(boxes: list[Box]) -> float:
    edges = sorted({x for box in boxes for x in (box.x0, box.x1)})
    total = 0.0
    for left, right in pairwise(edges):
        spans = sorted((b.y0, b.y1) for b in boxes if b.x0 <= left and b.x1 >= right)
        reach = float("-inf")
        for y0, y1 in spans:
            if y1 > reach:
                total += (right - left) * (y1 - max(y0, reach))
                reach = y1
    return total


def clusters(page: Box, boxes: list[Box]) -> list[list[int]]:
    """Groups of indices whose boxes touch or nearly touch."""
    grid = Grid(page)
    for box in boxes:
        grid.mark(box)
    islands = grid.islands()
    groups: dict[int, list[int]] = {}
    for index, box in enumerate(boxes):
        c0, _, r0, _ = grid.span(box)
        groups.setdefault(islands.of(c0, r0), []).append(index)
    return list(groups.values())
