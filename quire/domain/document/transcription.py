"""A page on its way through a model: what is asked and what is answered. Never a payload."""

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
class PageAnswer:
    """A judged answer: its text counts."""

    text: str
    usage: Usage
    cost_usd: float | None
    request_id: str | None = None
    # The vendor says that what is left of its rate is used up: no call for so long.
    pause_s: float | None = None
