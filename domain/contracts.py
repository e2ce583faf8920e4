"""Queue names, workflow ids, search attributes and every type that crosses a process border.

Starter, worker and tests all read them here, so that they cannot drift apart. Bytes and page
texts never appear in these types: they travel as keys into the store.
"""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.errors import Code, ErrorInfo, ErrorType, FailureKind

WORKFLOW_QUEUE = "quire"
DOCUMENTS_QUEUE = "quire-documents"
LOCAL_PROVIDER = "local"

SEARCH_ATTRIBUTES: dict[str, Literal["Keyword", "Int", "Bool"]] = {
    "QuireStatus": "Keyword",
    "QuireUser": "Keyword",
    "QuireEngine": "Keyword",
    "QuirePages": "Int",
    "QuireFallbackPages": "Int",
    "QuireTimeout": "Bool",
}


def route_queue(provider: str, model: str) -> str:
    """The task queue of one route."""
    return f"quire-ai-{provider}-{model}"


def workflow_id(job_id: str) -> str:
    """The workflow id of a job."""
    return f"document-{job_id}"


class Wire(BaseModel):
    """Frozen, and strict about unknown fields: a typo must not pass as a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Classification(StrEnum):
    """What a page needs, judged from cheap signals."""

    TEXT_ONLY = "TEXT_ONLY"
    HAS_GRAPHICS = "HAS_GRAPHICS"
    SCANNED = "SCANNED"
    BLANK = "BLANK"

    @property
    def letter(self) -> str:
        """One letter a page keeps the survey of a long document out of history's way."""
        return self.value[0]

    @classmethod
    def from_letter(cls, letter: str) -> "Classification":
        return next(member for member in cls if member.letter == letter)


class Source(StrEnum):
    """Where the text of a page came from."""

    MUPDF = "mupdf"
    AI = "ai"
    OCR = "ocr"
    MUPDF_FALLBACK = "mupdf_fallback"
    MUPDF_TIMEOUT_FALLBACK = "mupdf_timeout_fallback"

    @property
    def degraded(self) -> bool:
        """A model should have read this page and none did."""
        return self in (Source.MUPDF_FALLBACK, Source.MUPDF_TIMEOUT_FALLBACK)


class ImageOptions(Wire):
    """How a page is drawn for a model."""

    dpi: int = 100
    color: Literal["rgb", "gray"] = "rgb"
    format: Literal["jpeg", "png", "webp"] = "jpeg"
    jpeg_quality: int = 70


class ReadingOptions(Wire):
    """All that shapes a model's answer besides page and route; part of every answer's key."""

    image: ImageOptions = ImageOptions()
    system_prompt: str
    instructions: str = ""
    context_radius: int = 1
    context_bytes: int = 3000


class PageSurvey(Wire):
    """One surveyed page, kept in the store: never a payload."""

    page: int
    classification: Classification
    reason: str
    text: str = ""


class Usage(Wire):
    """Tokens of one call; the input includes what the vendor read from or wrote to its cache."""

    input_tokens: int = 0
    output_tokens: int = 0
