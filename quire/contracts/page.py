"""One page: its class, where its text came from, and how it ended.

The survey writes classes and the workflow records; results, queries and the next run read them."""

from enum import StrEnum
from typing import NamedTuple

from quire.contracts.base import Lean, Wire
from quire.contracts.codes import Code, ErrorType
from quire.contracts.money import NOTHING, Paid


class Classification(StrEnum):
    """What a page needs, judged from cheap signals."""

    TEXT_ONLY = "TEXT_ONLY"
    HAS_GRAPHICS = "HAS_GRAPHICS"
    SCANNED = "SCANNED"
    BLANK = "BLANK"

    @property
    def letter(self) -> str:
        """One letter a page: the survey of a long document stays short in history."""
        return self.value[0]

    @property
    def needs_vision(self) -> bool:
        """MuPDF's text alone would not do."""
        return self in (Classification.HAS_GRAPHICS, Classification.SCANNED)

    @classmethod
    def from_letter(cls, letter: str) -> "Classification":
        """The class that a survey writes as this letter."""
        return next(member for member in cls if member.letter == letter)


class TextSource(StrEnum):
    """Where the text of a page came from."""

    MUPDF = "mupdf"
    AI = "ai"
    OCR = "ocr"
    OCR_FALLBACK = "ocr_fallback"
    MUPDF_FALLBACK = "mupdf_fallback"
    MUPDF_TIMEOUT_FALLBACK = "mupdf_timeout_fallback"

    @property
    def degraded(self) -> bool:
        """A model should have read this page and none did."""
        return self not in (TextSource.MUPDF, TextSource.AI, TextSource.OCR)

    @property
    def was_read(self) -> bool:
        """A model or the local engine has read the page: its text is an answer in the store."""
        return self in (TextSource.AI, TextSource.OCR, TextSource.OCR_FALLBACK)


class Usage(Wire):
    """Tokens of one call; the input includes what the vendor read from or wrote to its cache."""

    input_tokens: int = 0
    output_tokens: int = 0


class Attempt(Wire):
    """One attempt as results and queries show it."""

    route: str
    outcome: str
    code: Code | None = None
    milliseconds: int = 0


class PageError(Wire):
    """Why a page is degraded."""

    error: str
    code: Code
    error_type: ErrorType


class AttemptNote(NamedTuple):
    """One attempt in short: the route's place in the chain, `ok` or the failure's kind, time."""

    route: int
    outcome: str
    milliseconds: int = 0


class PageRecord(Lean):
    """How one page ended, as the workflow knows it; the store has the rest."""

    page: int
    source: TextSource = TextSource.AI
    attempts: tuple[AttemptNote, ...] = ()
    error: PageError | None = None
    take: int = 0
    # Where the answer is, for a page taken over from an earlier run with other options.
    answer: str | None = None
    # Another run bought the answer; and what this one paid besides the answer.
    reused: bool = False
    wasted: Paid = NOTHING

    @property
    def read_by(self) -> int | None:
        """The route that read the page, by its place in the chain."""
        read = self.source.was_read and self.attempts
        return self.attempts[-1].route if read else None
