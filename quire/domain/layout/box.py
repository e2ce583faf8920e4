"""Pieces of text and where they stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A piece of a line and where it stands, from the top left; no longer slanted."""

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

    @property
    def middle(self) -> float:
        """How far down its middle is."""
        return (self.top + self.bottom) / 2

    @property
    def centre(self) -> float:
        """How far right its middle is."""
        return (self.left + self.right) / 2


def letter_height(boxes: Sequence[Box]) -> float:
    """The height of a usual line; all that is near or far is measured by it."""
    return max(1e-6, median(box.height for box in boxes))
