"""A batch: thousands of documents as one durable job.

Clients write the request and the list of sources, through `quire/jobs`; the workflow and its
activities read them, and write rows and result, which people and programs read."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from quire.contracts.base import Lean, StrictWire, Wire, is_empty, is_false, is_none
from quire.contracts.codes import Code, ErrorInfo
from quire.contracts.document import ReadingMode
from quire.contracts.names import BATCH_ID, JOB_ID, LONGEST_DEADLINE_S
from quire.contracts.page_ranges import parse_pages

MOST_DOCUMENTS = 100_000
MOST_OPEN = 200
RowStatus = Literal["done", "degraded", "failed", "cancelled", "not_started"]


def _page_list(spec: str) -> str:
    parse_pages(spec)
    return spec


class BatchOptions(Wire):
    """What is asked of every document; what is None is decided by the workers' settings."""

    engine: str | None = None
    tier: Literal["primary", "secondary", "fast"] = "primary"
    instructions: str = ""
    text_only: bool = False
    deadline_s: float | None = Field(default=None, gt=0, le=LONGEST_DEADLINE_S)
    mode: ReadingMode = "hold"
    force: bool = False


class BatchRequest(Wire):
    """What a person asks for. The list of sources is in the store, under the batch's id."""

    batch_id: str = Field(pattern=BATCH_ID)
    documents: int = Field(ge=1, le=MOST_DOCUMENTS)
    name: str = ""
    user_id: str = ""
    window: int = Field(default=10, ge=1, le=MOST_OPEN)
    # Nothing is started once what is settled has cost so much.
    max_cost_usd: float | None = Field(default=None, ge=0)
    options: BatchOptions = BatchOptions()
    # Set by the tool when a finished batch is taken up again: what is not good is redone.
    retry: bool = Field(default=False, exclude_if=is_false)


class BatchOrder(StrictWire):
    """What people send to a running batch: who they are, and for `retry` a new spend limit."""

    user_id: str = ""
    max_cost_usd: float | None = Field(default=None, ge=0)


class SourceItem(Lean):
    """One source of a batch, in the order in which it was given."""

    # Where a worker fetches it; empty where it was refused.
    source: str = ""
    # As it was given, without what is secret in a URL.
    shown: str = ""
    name: str = ""
    job_id: Annotated[str, Field(pattern=JOB_ID)] | None = None
    pages: Annotated[str, AfterValidator(_page_list)] | None = None
    engine: str | None = None
    sealed_password: str | None = None
    # Free words of a manifest, passed on to the row.
    value: str | None = None
    due: str | None = None
    error: ErrorInfo | None = None
    # The earlier document that is the same: the same bytes, read in the same way. 0 for none.
    same_as: int = 0


class SourcePage(Wire):
    """A part of the list of sources, as it is stored."""

    items: tuple[SourceItem, ...]


class DocumentRow(Wire):
    """How one document of a batch ended: one line of `documents.jsonl`."""

    number: int
    source: str
    job_id: str
    status: RowStatus
    code: Code | None = None
    reason: str | None = None
    message: str | None = None
    remedy: str | None = None
    pages: int = 0
    degraded_pages: int = 0
    pages_by_source: dict[str, int] = Field(default={})
    input_tokens: int = 0
    output_tokens: int = 0
    # None when the price of a model is unknown.
    cost_usd: float | None = 0.0
    milliseconds: int = 0
    text_path: str | None = None
    sha256: str | None = None
    # The document whose text this one has too, since its bytes are the same.
    same_as: int | None = None
    value: str | None = None
    due: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    warnings: tuple[str, ...] = ()
    # How often the batch had been retried when it was read.
    take: int = 0

    @property
    def good(self) -> bool:
        """Whether a retry leaves it alone."""
        return self.status == "done"


class BatchCounts(Wire):
    """How many documents are in each state; together they are all."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    degraded: int = 0
    failed: int = 0
    cancelled: int = 0
    not_started: int = 0

    @property
    def ended(self) -> int:
        """Documents that will not change unless they are retried."""
        return self.done + self.degraded + self.failed + self.cancelled + self.not_started

    @property
    def with_text(self) -> int:
        """Documents that have a text."""
        return self.done + self.degraded


class BatchResult(Wire):
    """What the workflow returns; `batch.json` holds the same."""

    batch_id: str
    status: Literal["completed", "running"] = "completed"
    message: str
    name: str = ""
    user_id: str = ""
    documents: int
    counts: BatchCounts
    pages: int = 0
    pages_by_source: dict[str, int] = Field(default={})
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    started_at: str
    completed_at: str | None = None
    cancelled: bool = False
    # Why documents were not started, such as a spend limit.
    stopped_by: str | None = Field(default=None, exclude_if=is_none)
    documents_path: str | None = None
    parquet_path: str | None = None
    warnings: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
