"""What the queries of a batch answer.

The workflow writes the answers; `quire/jobs` and other clients read them."""

from typing import Literal

from pydantic import Field

from quire.contracts.base import Wire
from quire.contracts.batch import BatchCounts, RowStatus
from quire.contracts.codes import Code

DocumentWord = Literal["waiting", "running"] | RowStatus


class BatchFailure(Wire):
    """One document without a text."""

    number: int
    source: str
    code: Code
    reason: str
    message: str


class BatchDetail(Wire):
    """The details of a batch's progress."""

    counts: BatchCounts = BatchCounts()
    phase: str = "starting"
    pages: int = 0
    degraded_pages: int = 0
    pages_by_source: dict[str, int] = Field(default={})
    input_tokens: int = 0
    output_tokens: int = 0
    # What settled documents have cost; None when the price of a model is unknown.
    cost_usd: float | None = 0.0
    max_cost_usd: float | None = None
    window: int = 0
    paused: bool = False
    cancelled: bool = False
    # Seconds to the end at the pace of the last documents; None where there is none yet.
    eta_s: float | None = None
    # Documents an hour, by the same pace.
    documents_an_hour: float | None = None
    stopped_by: str | None = None
    # The latest first.
    last_failures: tuple[BatchFailure, ...] = ()


class BatchStatus(Wire):
    """The progress contract, with documents as items. Counts are absolute, never deltas."""

    job_id: str
    batch_id: str
    name: str = ""
    status: Literal["pending", "running", "completed", "failed"]
    progress: float = 0.0
    total_items: int = 0
    # Documents that have a text.
    completed_items: int = 0
    # Documents that ended without one.
    failed_items: int = 0
    # The first document that is under way, by its number.
    current_item: int | None = None
    last_completed_item: int | None = None
    progress_detail: BatchDetail = BatchDetail()
    heartbeat_at: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    error_message: str | None = None


class BatchDocument(Wire):
    """One document as the query `documents` shows it; its row is in the store."""

    number: int
    job_id: str
    state: DocumentWord
