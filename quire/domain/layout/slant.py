"""Pages that were scanned a little askew: how much, and the boxes set straight."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from quire.domain.layout.box import Box, Point

# What is less is no slant, and what is more is not the page's: labels of a chart, a stamp.
_LEAST, _MOST = math.radians(0.1), math.radians(15)
# A short box says nothing of the slant: one pixel would be a degree.
_LONG = 3.0


@dataclass(frozen=True)
class Piece:
    """A piece of a line by its corners: top left, top right, bottom right, bottom left."""

    corners: tuple[Point, Point, Point, Point]
    text: str


def straighten(pieces: Sequence[Piece]) -> list[Box]:
    """The pieces as boxes, turned back by the slant that most of the page's text has."""
    angle = slant(pieces)
    cos, sin = math.cos(angle), math.sin(angle)
    return [_box(piece, cos, sin) for piece in pieces]


def slant(pieces: Sequence[Piece]) -> float:
    """The angle of the page's lines in radians; 0 where it is too small or too large to be one."""
    angles = sorted(found for piece in pieces if (found := _angle(piece)) is not None)
    half = sum(length for _, length in angles) / 2
    for angle, length in angles:
        half -= length
        if half <= 0:
            return angle if _LEAST <= abs(angle) <= _MOST else 0.0
    return 0.0


def _angle(piece: Piece) -> tuple[float, float] | None:
    """The angle of a long line, and its length."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = piece.corners
    across, down = (x1 + x2 - x0 - x3) / 2, (y1 + y2 - y0 - y3) / 2
    height = math.hypot(x3 + x2 - x0 - x1, y3 + y2 - y0 - y1) / 2
    length = math.hypot(across, down)
    if across <= 0 or length < _LONG * height:
        return None
    return math.atan2(down, across), length


def _box(piece: Piece, cos: float, sin: float) -> Box:
    xs = [x * cos + y * sin for x, y in piece.corners]
    ys = [y * cos - x * sin for x, y in piece.corners]
    return Box(min(xs), min(ys), max(xs), max(ys), piece.text)
