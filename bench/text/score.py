"""How far a text is from the true one: by letters, by words, and by what was planted in it."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

Kind = Literal["present", "absent", "order", "cell"]
# A word torn apart by a line's end is no error of any tool here.
_TORN = re.compile("[-‐\u00ad]\\s*\n\\s*")


@dataclass(frozen=True)
class Check:
    """Something planted: it is there, it is not, it comes before another, it shares its line."""

    kind: Kind
    first: str
    second: str = ""

    def holds(self, text: str) -> bool:
        """Whether the text passes."""
        flat = plain(text)
        if self.kind == "present":
            return self.first in flat
        if self.kind == "absent":
            return self.first not in flat
        if self.kind == "cell":
            return any(self.first in line and self.second in line for line in text.splitlines())
        return self.first in flat and flat.find(self.first) < flat.rfind(self.second)


@dataclass(frozen=True)
class Score:
    """One page as one tool read it."""

    character_error: float
    word_recall: float
    passed: int
    checks: int


def plain(text: str) -> str:
    """The text as one line, without what no reader would call a difference."""
    return " ".join(_TORN.sub("", text).split())


def score(text: str, truth: str, checks: tuple[Check, ...]) -> Score:
    """Judge one page."""
    found, true = plain(text), plain(truth)
    words = Counter(true.split())
    return Score(
        character_error=min(1.0, distance(found, true) / max(1, len(true))),
        word_recall=sum((words & Counter(found.split())).values()) / max(1, words.total()),
        passed=sum(check.holds(text) for check in checks),
        checks=len(checks),
    )


def distance(a: str, b: str) -> int:
    """Letters to insert, delete or replace; bits of long integers are the rows of the table."""
    if not a:
        return len(b)
    masks: dict[str, int] = {}
    for place, letter in enumerate(a):
        masks[letter] = masks.get(letter, 0) | 1 << place
    every, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    more, less, count = every, 0, len(a)
    for letter in b:
        same = masks.get(letter, 0)
        diagonal = ((((same & more) + more) ^ more) | same | less) & every
        up, down = less | (every & ~(diagonal | more)), more & diagonal
        count += bool(up & last) - bool(down & last)
        up, down = (up << 1 | 1) & every, (down << 1) & every
        more, less = down | (every & ~(diagonal | up)), up & diagonal
    return count
