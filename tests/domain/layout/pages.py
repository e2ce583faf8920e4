"""Made-up pages: lines of text with places, in the order of reading, and as a scan shows them."""

import math
import random
from dataclasses import dataclass, field

from quire.domain.layout.slant import Piece
from testing.prose import WORDS

WIDTH, HEIGHT = 1200.0, 1700.0
LETTER = 22.0
PITCH = 30.0
MARGIN = 90.0


@dataclass
class MadePage:
    """Lines in reading order, each with its left, top, right and bottom."""

    seed: int = 1
    lines: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    y: float = 100.0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def words(self, count: int) -> str:
        number = len(self.lines)
        return f"#{number} " + " ".join(self.random.choice(WORDS.split()) for _ in range(count))

    def across(self, rows: int = 1, share: float = 0.9) -> "MadePage":
        """Lines over the whole width, or centred over a share of it."""
        for _ in range(rows):
            indent = (WIDTH - 2 * MARGIN) * (1 - share) / 2
            left, right = MARGIN + indent, WIDTH - MARGIN - indent
            self.lines.append((left, self.y, right, self.y + LETTER, self.words(int(16 * share))))
            self.y += PITCH
        self.y += PITCH
        return self

    def columns(self, count: int, rows: int, gutter: float = 40.0, *, leftwards: bool = False,
                uneven: int = 0) -> "MadePage":  # fmt: skip
        """Columns of prose, ragged at the right; each `uneven` lines shorter than the last."""
        width = (WIDTH - 2 * MARGIN - gutter * (count - 1)) / count
        top, bottom = self.y, self.y
        order = range(count - 1, -1, -1) if leftwards else range(count)
        for place, column in enumerate(order):
            left = MARGIN + column * (width + gutter)
            # Baselines of columns need not agree.
            y = top + self.random.uniform(0, PITCH / 2)
            for row in range(max(1, rows - place * uneven)):
                last = row % 7 == 6
                right = left + width * (0.4 if last else self.random.uniform(0.86, 1.0))
                text = self.words(16 // count)
                self.lines.append((left, y, right, y + LETTER, text))
                y += PITCH
            bottom = max(bottom, y)
        self.y = bottom + PITCH
        return self

    def scanned(self, degrees: float = 0.0, noise: float = 0.0) -> list[Piece]:
        """As an engine finds them: turned a little, their edges a little off, in any order."""
        pieces = []
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        for left, top, right, bottom, text in self.lines:
            corners = []
            for x, y in ((left, top), (right, top), (right, bottom), (left, bottom)):
                x, y = x + self.random.gauss(0, noise), y + self.random.gauss(0, noise)
                corners.append((x * cos - y * sin, x * sin + y * cos))
            a, b, c, d = corners
            pieces.append(Piece((a, b, c, d), text))
        self.random.shuffle(pieces)
        return pieces

    @property
    def texts(self) -> list[str]:
        return [line[-1] for line in self.lines]
