"""What the queries of a document take and answer.

The workflow writes the answers; `quire/jobs` and other clients read them."""

from typing import Literal

from pydantic import Field

from quire.contracts.base import StrictWire, Wire
from quire.contracts.page import Attempt, Classification, PageError, TextSource


class ProgressDetail(Wire):
    """The details of progress: errors by page, and counts by where pages stand."""

    page_errors: dict[int, PageError] = Field(default={})
    pages_by_source: dict[str, int] = Field(default={})
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
    # `provider:model` of the plan, in order; none before there is a plan.
    routes: tuple[str, ...] = ()
    # How often the document was stuck and started again.
    healed: int = 0


class DocumentStatus(Wire):
    """The progress contract. Counts are absolute, never deltas."""

    job_id: str
    status: Literal["pending", "running", "completed", "failed"]
    # The share of pages that have ended, 0 to 100; 100 exactly when the status is `completed`.
    progress: float = 0.0
    total_items: int = 0
    completed_items: int = 0
    failed_items: int = 0
    current_item: int | None = None
    last_completed_item: int | None = None
    progress_detail: ProgressDetail = ProgressDetail()
    heartbeat_at: str | None = None
    started_at: str | None = None
    deadline_at: str | None = None
    # What reading takes, where the deadline has grown with the pages that local OCR reads.
    estimate: str = ""
    completed_at: str | None = None
    error_message: str | None = None
    # Of a completed document what its result says of itself: how many pages are degraded, why, and
    # what mends them.
    message: str = ""
    # What the job waits for: its routes to end their rest, with the time; and what is missing, with
    # what to do. The workflow cannot see the latter: `quire status` and the Python API ask the
    # server.
    waiting_for: tuple[str, ...] = ()


class PageRange(StrictWire):
    """Argument of the query `pages`."""

    first: int = 1
    last: int = 1_000_000


class PageStatus(Wire):
    """One page as the query `pages` shows it."""

    page: int
    classification: Classification
    state: Literal["waiting", "in_flight", "done"]
    source: TextSource | None = None
    route: str | None = None
    attempts: tuple[Attempt, ...] = ()
    error: PageError | None = None
    # When the last attempt ended, or began where it is in flight. None without an attempt, and for
    # a page that ended before the workflow continued as new.
    last_attempt_at: str | None = None
    # Of a page that waits or is degraded: when it, or the first of its routes, may be tried again.
    # None where nothing keeps it from being tried now.
    retry_after: str | None = None


class PageTexts(Wire):
    """Where finished pages have their text: the answer's key, or nothing for MuPDF's."""

    sha256: str
    pages: tuple[tuple[int, str], ...]


class BreakerStatus(Wire):
    """One route's or provider's breaker as the query `breakers` shows it."""

    key: str
    state: str
    retry_at: str | None = None
    failures: int = 0
    in_flight: int = 0
    reason: str = ""
    # Where it was learned from another document that it looks dead, since when it fails.
    learned_since: str | None = None
