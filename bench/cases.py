"""The cases of the limit: which there are, and what was measured of each."""

from dataclasses import dataclass

from bench.commands import Bare
from bench.medians import Median
from bench.stage import Cost, Reading


@dataclass(frozen=True)
class Case:
    """A vendor of this latency, a model with so many slots; how often each side runs."""

    latency: float
    slots: int
    repeats: int
    # Also the command from nothing, and once more with spans.
    more: bool = True

    @property
    def name(self) -> str:
        return f"{self.latency:g} s, {self.slots} slots"


QUICK = (Case(0.0, 8, 3, more=False), Case(0.3, 8, 3), Case(2.0, 32, 1, more=False))
FULL = (
    *(Case(latency, slots, 5) for slots in (8, 32) for latency in (0.0, 0.3)),
    # Nearly a minute a run, in which the vendor is all that counts.
    Case(2.0, 8, 1),
    Case(2.0, 32, 5),
)


@dataclass
class Measured:
    """All runs of a case."""

    case: Case
    bare: list[Bare]
    quire: list[tuple[Reading, Cost]]
    # The whole commands from nothing.
    cold_s: float | None = None
    bare_cold_s: float | None = None
    shares: dict[str, float] | None = None

    @property
    def of_bare(self) -> Median:
        """Each turn's ratio: what disturbs the machine for a while disturbs both of a turn."""
        turns = zip(self.bare, self.quire, strict=True)
        return Median.of([reading.seconds / run.seconds for run, (reading, _) in turns])
