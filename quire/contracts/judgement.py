"""How far the text of a page can be believed, and why it is this text.

`recognize_page` writes it beside the answer; the result of a document shows it."""

from typing import Literal

from quire.contracts.base import Wire


class Difference(Wire):
    """One word or number that the text layer and the reading do not have in common."""

    layer: str = ""
    reading: str = ""


class Disagreement(Wire):
    """What the text layer and a reading of the page's picture do not have in common."""

    # The share of their letters and digits, 0 to 1.
    score: float
    # Numbers first; no more than a person would look at.
    differs: tuple[Difference, ...] = ()


# What became the page's text: `both` is the layer with what was read in pictures that it lacks.
Kept = Literal["layer", "ocr", "model", "both"]


class Choice(Wire):
    """Which of the page's texts was kept, and why."""

    kept: Kept
    why: str


class Judgement(Wire):
    """Of one reading of a page."""

    # 0 to 1: about the share of the text that is right. None where nothing could be compared.
    confidence: float | None = None
    disagreement: Disagreement | None = None
    choice: Choice | None = None


# What is done about a page whose confidence is too low.
Doubt = Literal["flag", "reread"]


class DoubtPolicy(Wire):
    """Which pages are doubtful, and what is done about them."""

    below: float = 0.85
    then: Doubt = "flag"
