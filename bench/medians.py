"""Repeated measurements as one figure: the median, with what it lay between."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Median:
    """Of an odd number of runs, so that it is one that was really seen."""

    value: float
    least: float
    most: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Median":
        return cls(statistics.median(values), min(values), max(values), len(values))

    def written(self, digits: int = 2) -> str:
        """`4.51 (4.40..4.93)`, or the value alone when there was one run."""
        if self.runs == 1:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} ({self.least:.{digits}f}..{self.most:.{digits}f})"


def ratio(value: float, of: float) -> float | None:
    """None where there is nothing to compare with."""
    return value / of if of else None
