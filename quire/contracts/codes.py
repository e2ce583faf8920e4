"""The public error codes, and an error as people and programs see it.

The catalogue in `quire/domain/errors` writes them; people, programs, workflow and metrics read
them."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Code(StrEnum):
    """The public error codes."""

    NOT_PDF = "NOT_PDF"
    TOO_LARGE = "TOO_LARGE"
    GW_4XX = "GW_4XX"
    GW_5XX = "GW_5XX"
    GW_TIMEOUT = "GW_TIMEOUT"
    IO_ERROR = "IO_ERROR"
    NOT_READY = "NOT_READY"
    EXPIRED = "EXPIRED"
    FORBIDDEN = "FORBIDDEN"
    UNKNOWN = "UNKNOWN"


ErrorType = Literal["retryable", "terminal"]


class ErrorInfo(BaseModel):
    """An error as people and programs see it: no stack traces, server paths or secrets."""

    model_config = ConfigDict(frozen=True)

    code: Code
    reason: str
    error_type: ErrorType
    message: str
    remedy: str

    def line(self) -> str:
        """The one line a person reads."""
        return f"{self.code} ({self.reason}): {self.message} {self.remedy}".strip()


class FailureKind(StrEnum):
    """What went wrong with one attempt: the rows of the failure table."""

    RATE = "RATE"
    QUOTA = "QUOTA"
    AUTH = "AUTH"
    MODEL = "MODEL"
    REQUEST = "REQUEST"
    IMAGE_SIZE = "IMAGE_SIZE"
    TIMEOUT = "TIMEOUT"
    SERVER = "SERVER"
    CONNECT = "CONNECT"
    BAD_BODY = "BAD_BODY"
    CONTENT = "CONTENT"
    OUTPUT = "OUTPUT"
    UNREADABLE = "UNREADABLE"
    RENDER = "RENDER"
    STORAGE = "STORAGE"
    BUG = "BUG"
