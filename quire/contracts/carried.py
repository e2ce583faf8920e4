"""A document between two runs of its workflow: what `continue_as_new` takes along.

One run of the workflow writes it and the next one reads it; clients start the first run without."""

from typing import Any

from pydantic import ConfigDict, Field

from quire.contracts.base import Lean, Wire
from quire.contracts.document import DocumentRequest
from quire.contracts.money import NOTHING, Paid
from quire.contracts.page import AttemptNote, PageError, PageRecord
from quire.contracts.plan import DocumentPlan
from quire.contracts.routing import Breaker
from quire.contracts.steps import DocumentReceipt


class CarriedPage(Lean):
    """A page that still waits and is no longer as it began."""

    page: int
    barred: tuple[int, ...] = ()
    barred_for_good: tuple[int, ...] = ()
    round: int = 0
    not_before: float = 0.0
    attempts: tuple[AttemptNote, ...] = ()
    error: PageError | None = None
    take: int = 0
    past: int = 0
    earlier: PageRecord | None = None
    wasted: Paid = NOTHING
    paid_before: Paid = NOTHING
    last_attempt: float = 0.0
    # A route for each failure that counts against the page, and when it last went to the back.
    strikes: tuple[int, ...] = ()
    back_since: float = 0.0


class CarriedDispatch(Lean):
    """The state of the dispatch, with nothing in flight."""

    pages: tuple[CarriedPage, ...] = ()
    breakers: dict[str, Breaker] = Field(default_factory=dict)
    answered: tuple[int, ...] = ()
    # How long the last answers of each route took, in milliseconds.
    latencies: tuple[tuple[int, ...], ...] = ()
    # How many pages were asked of two routes at once, and how many had ended before this run.
    hedged: int = 0
    ended: int = 0
    # The workers known to serve each route.
    workers: tuple[tuple[str, ...], ...] = ()


class Carried(Wire):
    """Everything that is known of a document once it is surveyed."""

    plan: DocumentPlan
    source: DocumentReceipt
    brief: str
    # One letter a page, as far as the survey has come.
    classes: str
    started: float
    deadline: float
    # Ended pages that needed vision, and pages taken over from an earlier run of the job.
    records: tuple[PageRecord, ...] = ()
    # Routes that records name beyond the plan's chain.
    past_routes: tuple[str, ...] = ()
    # Pages that a person wants read again, as they were before.
    again: tuple[PageRecord, ...] = ()
    # Pages whose text layer is enough, but that a person wanted a model to read.
    also_vision: tuple[int, ...] = ()
    version: int = 1
    changed: tuple[int, ...] = ()
    # Input and output tokens, millionths of a dollar, answers without a price.
    spent: tuple[int, int, int, int] = (0, 0, 0, 0)
    dispatch: CarriedDispatch = CarriedDispatch()
    # For the Web UI and the metrics: page, route and error of the attempts that failed last, and
    # since when breakers are open.
    last_errors: tuple[tuple[int, str, PageError], ...] = ()
    opened: dict[str, float] = Field(default_factory=dict)


class DocumentRun(DocumentRequest):
    """What a run of the workflow is given: the request, and what an earlier run carried.

    Strict: a client that misspells an option gets an error.
    """

    model_config = ConfigDict(extra="forbid")

    carried: Carried | None = None

    @classmethod
    def of(cls, request: DocumentRequest, carried: Carried | None = None) -> "DocumentRun":
        """A run for this request, the first or a next one."""
        return cls(**_fields(request), carried=carried)

    def request(self) -> DocumentRequest:
        """The request alone, as activities are given it."""
        return DocumentRequest(**_fields(self))


def _fields(request: DocumentRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in DocumentRequest.model_fields}
