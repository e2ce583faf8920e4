"""How long runs may take: each of them, and all together."""

import time
from dataclasses import dataclass, field

# With less than this, a run is not worth beginning.
LEAST_S = 10.0


class OutOfTime(Exception):
    """The set's time is used up: what is left is not measured."""


@dataclass(frozen=True)
class Budget:
    """Without figures, every run has the limit that it asks for."""

    each_s: float = float("inf")
    in_all_s: float = float("inf")
    started: float = field(default_factory=time.monotonic)

    def limit(self, wanted_s: float) -> float:
        """What a run gets of the seconds that it asks for."""
        left = self.in_all_s - (time.monotonic() - self.started)
        if left < LEAST_S:
            raise OutOfTime(f"the {self.in_all_s:.0f} s of this set were used up")
        return min(wanted_s, self.each_s, left)
