"""What the workflow of a batch asks of activities, what they answer, and what runs hand over.

The workflow writes the requests; activities read them and write receipts."""

from typing import Any

from pydantic import ConfigDict, Field

from quire.contracts.base import Lean, Wire
from quire.contracts.batch import BatchOptions, BatchRequest
from quire.contracts.batch_status import BatchFailure
from quire.contracts.money import NOTHING, Paid


class BatchPlan(Wire):
    """How the documents of a batch are read: the request, and the workers' settings behind it."""

    options: BatchOptions


class LoadRequest(Wire):
    """Take up what the store already has of the batch."""

    batch_id: str
    documents: int


class DocumentEnd(Lean):
    """A document of the batch has ended; its row is in the store."""

    number: int
    # One letter for its state, as `quire/domain/batch/letters.py` has them.
    letter: str
    pages: int = 0
    degraded: int = 0
    by_source: tuple[tuple[str, int], ...] = ()
    paid: Paid = NOTHING
    failure: BatchFailure | None = None


class LoadReceipt(Wire):
    """One letter a document, and the sums of those that have ended."""

    letters: str
    pages: int = 0
    degraded: int = 0
    by_source: dict[str, int] = Field(default={})
    paid: Paid = NOTHING
    # The highest number of retries among the rows.
    take: int = 0


class OpenDocument(Lean):
    """A document that was started: its number, its job, and how often it was retried before."""

    number: int
    job_id: str
    take: int = 0


class StartRequest(Wire):
    """Start these documents, in this order."""

    batch_id: str
    user_id: str = ""
    options: BatchOptions
    # Pairs of a number and how often it was retried before.
    wanted: tuple[tuple[int, int], ...]
    # Of these, documents that have ended: what is the same as one of them has its text.
    ended: tuple[int, ...] = ()
    # Counts the groups of a run: the name of the object with the rows of those that ended at once.
    group: int


class StartReceipt(Wire):
    """What became of documents that were to be started."""

    running: tuple[OpenDocument, ...] = ()
    # Refused, or the same as one that has ended.
    ended: tuple[DocumentEnd, ...] = ()
    # Pairs of a document and the earlier one that it waits for, since it is the same.
    after: tuple[tuple[int, int], ...] = ()


class CollectRequest(Wire):
    """Wait until some of these documents have ended, and write their rows."""

    batch_id: str
    running: tuple[OpenDocument, ...]
    group: int


class CollectReceipt(Wire):
    """The documents that have ended."""

    ended: tuple[DocumentEnd, ...]


class StopRequest(Wire):
    """Have these documents stop with what they have."""

    batch_id: str
    user_id: str = ""
    running: tuple[OpenDocument, ...]


class SkipRequest(Wire):
    """Write rows for documents that will not be started, by ranges of their numbers."""

    batch_id: str
    documents: int
    numbers: str
    why: str
    take: int
    group: int


class WriteRequest(Wire):
    """Write the results of a batch."""

    request: BatchRequest
    started_at: str
    completed_at: str
    cancelled: bool = False
    stopped_by: str | None = None


class CarriedBatch(Wire):
    """A batch between two runs of its workflow."""

    plan: BatchPlan
    letters: str
    running: tuple[OpenDocument, ...] = ()
    after: tuple[tuple[int, int], ...] = ()
    # Jobs whose id a manifest gave, and documents that were retried, by their numbers.
    named: dict[int, str] = Field(default={})
    takes: dict[int, int] = Field(default={})
    take: int = 0
    started: float
    pages: int = 0
    degraded: int = 0
    by_source: dict[str, int] = Field(default={})
    # As in `Carried`: tokens in and out, millionths of a dollar, answers without a price.
    spent: tuple[int, int, int, int] = (0, 0, 0, 0)
    max_cost_usd: float | None = None
    paused: bool = False
    cancelled: bool = False
    last_failures: tuple[BatchFailure, ...] = ()
    last_ended: int | None = None
    # Moments and how many had ended then, for the pace.
    pace: tuple[tuple[float, int], ...] = ()


class BatchRun(BatchRequest):
    """What a run of the workflow is given: the request, and what an earlier run carried. Strict: a
    client that misspells a field gets an error."""

    model_config = ConfigDict(extra="forbid")

    carried: CarriedBatch | None = None

    @classmethod
    def of(cls, request: BatchRequest, carried: CarriedBatch | None = None) -> "BatchRun":
        """A run for this request, the first or a next one."""
        return cls(**_fields(request), carried=carried)

    def request(self) -> BatchRequest:
        """The request alone."""
        return BatchRequest(**_fields(self))


def _fields(request: BatchRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in BatchRequest.model_fields}
