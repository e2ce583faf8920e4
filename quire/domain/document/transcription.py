"""A page on its way through a model: what is asked and what is answered. Never a payload."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from quire.contracts.page import Usage


@dataclass(frozen=True)
class PageImage:
    """A drawn page, in memory only."""

    data: bytes
    media_type: str
    width: int
    height: int
    # How much of the drawing was encoding; for traces.
    encode_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class PageQuestion:
    """What a model is asked: the drawn page, the rules, and the text that goes with the page."""

    image: PageImage
    system_prompt: str
    user_prompt: str


@dataclass(frozen=True)
class ReadLine:
    """A line as an engine read it, with the engine's own score from 0 to 1.

    Its box is left, top, right and bottom as shares of the page as it was read: upright.
    """

    text: str
    score: float
    box: tuple[float, float, float, float]


def mean_score(lines: Sequence[ReadLine]) -> float | None:
    """The mean of the lines' scores, each line counted by its letters; None without any."""
    letters = [len("".join(line.text.split())) for line in lines]
    if not sum(letters):
        return None
    return sum(line.score * count for line, count in zip(lines, letters, strict=True)) / sum(
        letters
    )


@dataclass(frozen=True)
class PageAnswer:
    """A judged answer: its text counts. Score and lines are those of engines that give them.

    `turn` says by how many quarters to the left an engine turned the page to read it.
    """

    text: str
    usage: Usage
    cost_usd: float | None
    request_id: str | None = None
    score: float | None = None
    lines: tuple[ReadLine, ...] = ()
    turn: int = 0
    # The vendor says that what is left of its rate is used up: no call for so long.
    pause_s: float | None = None
