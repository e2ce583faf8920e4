"""What people ask of a document.

Clients write these types, through `quire/jobs`; the workflow reads them, and passes the request on
to activities."""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
)

from quire.contracts.base import StrictWire, Wire, is_empty, is_false, is_none
from quire.contracts.names import JOB_ID, LONGEST_DEADLINE_S
from quire.contracts.page_ranges import parse_pages

DocumentKind = Literal["pdf", "images"]
# What is done about vendors that fail: the breaker's rule and the dispatch's in one word.
ReadingMode = Literal["adaptive", "fail_fast", "hold"]


def _page_list(spec: str) -> str:
    parse_pages(spec)
    return spec


class RetryRequest(StrictWire):
    """A person wants pages read again: the named ones, or all that are degraded."""

    user_id: str = ""
    pages: Annotated[str, AfterValidator(_page_list)] | None = None


class ReplacedRun(Wire):
    """A run that a forced one has replaced: what it bought is new, and not bought again."""

    # What set its answers apart; empty for a run that was not forced.
    salt: str = ""
    # Only what these runs bought is new; where there are none, all of its answers are.
    bought_by: tuple[str, ...] = ()
    # The request is the same: it does not matter which route of the chain read a page.
    any_route: bool = False


class DocumentRequest(Wire):
    """What a person asks for. What is None is decided by the worker's settings."""

    job_id: str = Field(pattern=JOB_ID)
    source: str
    source_name: str = ""
    user_id: str = ""
    engine: str | None = None
    tier: Literal["primary", "secondary", "fast"] = "primary"
    instructions: str = ""
    text_only: bool = False
    deadline_s: float | None = Field(default=None, gt=0, le=LONGEST_DEADLINE_S)
    pages: Annotated[str, AfterValidator(_page_list)] | None = None
    force: bool = False
    # Sealed by the client: a password never leaves it in clear.
    sealed_password: str | None = None
    # Set by the tool when a finished document is read again in part.
    retry: RetryRequest | None = None
    # How pages wait for vendors that fail. Like the next one left out when it is not asked for:
    # workers of before refuse what they do not know.
    mode: ReadingMode | None = Field(default=None, exclude_if=is_none)
    # Every page by one model, as long as that one is well.
    one_model: bool = Field(default=False, exclude_if=is_false)
    # Set by the tool when a forced run replaces one that was running, the latest first.
    replaced: tuple[ReplacedRun, ...] = Field(default=(), exclude_if=is_empty)


class RetryResult(Wire):
    """Which pages will be read again."""

    pages: tuple[int, ...]


class CancelRequest(StrictWire):
    """A person wants the document to stop; what is done is kept."""

    user_id: str = ""
