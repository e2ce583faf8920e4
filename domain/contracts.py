"""Queue names, workflow ids, search attributes and every type that crosses a process border.

Starter, worker and tests all read them here, so that they cannot drift apart. Bytes and page
texts never appear in these types: they travel as keys into the store.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from domain.errors import Code, ErrorType, FailureKind
from domain.pages import parse_pages
from domain.spending import NOTHING, Paid

WORKFLOW_QUEUE = "quire"
DOCUMENTS_QUEUE = "quire-documents"
LOCAL_PROVIDER = "local"

# A job id is part of a workflow id and of a folder's name.
JOB_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"

# Temporal keeps a workflow as long as it takes, but no one waits longer for a document.
LONGEST_DEADLINE_S = 30 * 86400.0

SEARCH_ATTRIBUTES: dict[str, Literal["Keyword", "Int", "Double", "Bool"]] = {
    "QuireStatus": "Keyword",
    "QuireUser": "Keyword",
    "QuireEngine": "Keyword",
    "QuirePages": "Int",
    "QuireFallbackPages": "Int",
    "QuireTimeout": "Bool",
    "QuireTokens": "Int",
    "QuireCostUsd": "Double",
}
# The memo in which a document's start goes along from run to run.
STARTED_MEMO = "QuireStarted"


def route_queue(provider: str, model: str) -> str:
    """The task queue of one route."""
    return f"quire-ai-{provider}-{model}"


WORKFLOW_ID_PREFIX = "document-"


def workflow_id(job_id: str) -> str:
    """The workflow id of a job."""
    return WORKFLOW_ID_PREFIX + job_id


def _page_list(spec: str) -> str:
    parse_pages(spec)
    return spec


class Wire(BaseModel):
    """Frozen. A field that is not known is passed over: while workers are replaced one after the
    other, those of the older version are given what the newer one writes."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Wish(Wire):
    """What people send: a typo must not pass as a default."""

    model_config = ConfigDict(extra="forbid")


class Lean(Wire):
    """Leaves out what is at its default: history holds one of these for each attempt."""

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        whole: dict[str, Any] = serialize(self)
        return {
            name: value
            for name, value in whole.items()
            if getattr(self, name) != fields[name].default
        }


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

    @property
    def needs_vision(self) -> bool:
        """MuPDF's text alone would not do."""
        return self in (Classification.HAS_GRAPHICS, Classification.SCANNED)

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
    # Set by a forced run: its answers then have keys of their own, and an interrupted forced
    # run still never buys a page twice.
    salt: str = ""


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


class StoredAnswer(Wire):
    """One page as one route read it: the object behind an answer key."""

    text: str
    provider: str
    model: str
    milliseconds: int
    usage: Usage
    cost_usd: float | None = None
    request_id: str | None = None
    # The run of a workflow that paid for it: for every other one it is free.
    bought_by: str = ""


class RetryRequest(Wish):
    """A person wants pages read again: the named ones, or all that are degraded."""

    user_id: str = ""
    pages: Annotated[str, AfterValidator(_page_list)] | None = None


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


class RetryResult(Wire):
    """Which pages will be read again."""

    pages: tuple[int, ...]


class CancelRequest(Wish):
    """A person wants the document to stop; what is done is kept."""

    user_id: str = ""


SourceKind = Literal["pdf", "images"]


class SourceReceipt(Wire):
    """A document in the store: its content hash is its name."""

    sha256: str
    bytes: int
    page_count: int
    kind: SourceKind = "pdf"


class SurveyRequest(Wire):
    """Survey pages of a stored document: all, or those between two ends of the survey's chunks."""

    job_id: str
    sha256: str
    page_count: int
    kind: SourceKind = "pdf"
    sealed_password: str | None = None
    first: int = 1
    last: int | None = None


class SurveyReceipt(Wire):
    """One classification letter a page; texts and reasons are in the store."""

    classes: str


class Brief(Wire):
    """What all attempts of a document have in common: kept in the store, named in payloads."""

    job_id: str
    sha256: str
    page_count: int
    reading: ReadingOptions
    # (provider, model, timeout in seconds) of every route, by its place in the chain.
    routes: tuple[tuple[str, str, float], ...]
    # False while breakers count failures over a window: one failure then means little.
    stand_down: bool = True
    kind: SourceKind = "pdf"
    sealed_password: str | None = None


class AttemptRequest(Lean):
    """One attempt at one page on one route."""

    brief: str
    page: int
    seconds: float
    route: int = 0
    # `changes` of the route's and the provider's breaker when the attempt was chosen.
    begun_at: tuple[int, int] = (0, 0)
    # Counts a person's wishes to have a page read again that already was.
    take: int = 0
    # It has other routes to go to, and waits for a slot of this one no longer than a moment.
    hurried: bool = False
    # The page's first, second, ... over all its routes: for people.
    attempt: int = 1


class AttemptReceipt(Lean):
    """A page was read. Text and full receipt are in the store under the answer's key."""

    milliseconds: int
    chars: int
    # It was in the store when this attempt began: nobody was called.
    stored: bool = False
    # Another run bought it.
    reused: bool = False
    # What this run paid for it; and for answers that are not the one in the store.
    paid: Paid = NOTHING
    wasted: Paid = NOTHING


class AttemptFailure(Lean):
    """A page was not read, in the words of the failure table."""

    kind: FailureKind
    message: str
    milliseconds: int = 0
    retry_after_s: float | None = None
    # What the vendor bills for it all the same.
    wasted: Paid = NOTHING


class Attempt(Wire):
    """One attempt as the result tells it."""

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
    source: Source = Source.AI
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
        read = self.source in (Source.AI, Source.OCR) and self.attempts
        return self.attempts[-1].route if read else None


class PageResult(Wire):
    """One page of `result.json`."""

    page: int
    classification: Classification
    reason: str
    source: Source
    provider: str | None = None
    model: str | None = None
    attempts: tuple[Attempt, ...] = ()
    # What this run paid for the page, answers that did not count included; None: price unknown.
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    # Its text was in the store, bought by another run.
    reused: bool = False
    chars: int = 0
    error: PageError | None = None
    # The key of the answer in the store, and how often a person had the page read anew.
    answer: str | None = None
    take: int = 0


class ResultMetadata(Wire):
    """The counts of a finished document; they always add up.

    total_pages = pages_done + pages_failed = ai_pages + text_only_pages.
    """

    total_pages: int
    ai_pages: int
    text_only_pages: int
    pages_done: int
    pages_failed: int
    ai_pages_succeeded: int
    ocr_pages: int
    mupdf_fallback_count: int
    timeout_occurred: bool
    cancelled: bool = False
    missing_pages: int
    result_text_len: int
    result_local_path: str | None = None
    result_s3_url: str | None = None
    # What this run paid: the sums over the pages.
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    warnings: tuple[str, ...] = ()


class DocumentResult(Wire):
    """What the workflow returns; `result.json` holds the same and the pages."""

    job_id: str
    status: Literal["success"] = "success"
    message: str
    source: str
    sha256: str
    # Of the whole document, also when only some pages were chosen.
    page_count: int
    kind: SourceKind = "pdf"
    user_id: str = ""
    started_at: str
    completed_at: str
    # Results of a job are numbered; a retry makes a new one and keeps the older.
    version: int = 1
    changed_pages: tuple[int, ...] = ()
    # Taken from an earlier run on the same bytes with the same options; what it says of attempts
    # is that run's, what it says of cost is this one's: nothing.
    cached: bool = False
    metadata: ResultMetadata


class DocumentReport(DocumentResult):
    """`result.json`."""

    pages: tuple[PageResult, ...]


class FinalizeRequest(Wire):
    """Merge what the pages became into `text.txt` and `result.json`."""

    job_id: str
    source: str
    sha256: str
    reading: str
    user_id: str
    page_count: int
    kind: SourceKind = "pdf"
    # So many pages were surveyed, from the first on: their texts must be in the store.
    surveyed: int = 0
    # The routes that records name, `provider:model`, by their place.
    routes: tuple[str, ...]
    records: tuple[PageRecord, ...]
    vision_pages: int
    timeout_occurred: bool
    cancelled: bool = False
    version: int = 1
    changed_pages: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    started_at: str
    completed_at: str
    # The source as it was given: it decides where the result goes.
    origin: str = ""
    # Under which name the result may be found again; empty when it may not.
    finished: str = ""


class StoredResult(Wire):
    """A complete result, kept for whoever brings the same bytes and options again."""

    report: DocumentReport
    text_sha256: str


class ReuseRequest(Wire):
    """Look for a stored result, and make it this job's."""

    job_id: str
    source: str
    origin: str
    sha256: str
    finished: str
    user_id: str
    started_at: str


class ReuseReceipt(Wire):
    """The stored result as this job's: one letter of classification and one record a page."""

    result: DocumentResult
    classes: str
    records: tuple[PageRecord, ...]


class PreviousRequest(Wire):
    """Take up a finished job again."""

    job_id: str
    user_id: str
    pages: str | None
    # The source as it was given: it decides where the result is.
    origin: str = ""


class PreviousReceipt(Wire):
    """What an earlier run left: its good pages and the routes that their records name."""

    source: SourceReceipt
    routes: tuple[str, ...]
    # Pages that stay as they are, and pages to be read again as they were before.
    records: tuple[PageRecord, ...]
    again: tuple[PageRecord, ...]
    version: int


class ProgressDetail(Wire):
    """The details of progress: errors by page, and counts by where pages stand."""

    page_errors: dict[int, PageError] = {}
    pages_by_source: dict[str, int] = {}
    waiting: int = 0
    in_flight: int = 0
    phase: str = "starting"
    warnings: tuple[str, ...] = ()
    timeout_occurred: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    # None when the price of a model is unknown.
    cost_usd: float | None = 0.0
    cancelled: bool = False


class DocumentStatus(Wire):
    """The progress contract. Counts are absolute, never deltas."""

    job_id: str
    status: Literal["pending", "running", "completed", "failed"]
    total_items: int = 0
    completed_items: int = 0
    failed_items: int = 0
    current_item: int | None = None
    last_completed_item: int | None = None
    progress_detail: ProgressDetail = ProgressDetail()
    heartbeat_at: str | None = None
    started_at: str | None = None
    deadline_at: str | None = None
    completed_at: str | None = None
    error_message: str | None = None


class PageRange(Wish):
    """Argument of the query `pages`."""

    first: int = 1
    last: int = 1_000_000


class PageStatus(Wire):
    """One page as the query `pages` tells it."""

    page: int
    classification: Classification
    state: Literal["waiting", "in_flight", "done"]
    source: Source | None = None
    route: str | None = None
    attempts: tuple[Attempt, ...] = ()
    error: PageError | None = None


class PageTexts(Wire):
    """Where finished pages have their text: the answer's key, or nothing for MuPDF's."""

    sha256: str
    pages: tuple[tuple[int, str], ...]


class BreakerStatus(Wire):
    """One route's or provider's breaker as the query `breakers` tells it."""

    key: str
    state: str
    retry_at: str | None = None
    failures: int = 0
    in_flight: int = 0
    reason: str = ""
