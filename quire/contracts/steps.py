"""What the workflow asks of activities, and what they answer.

The workflow writes the requests; activities read them and write receipts and failures."""

from pydantic import Field

from quire.contracts.base import Lean, Wire, is_false
from quire.contracts.codes import FailureKind
from quire.contracts.document import DocumentKind
from quire.contracts.money import NOTHING, Paid
from quire.contracts.page import PageRecord
from quire.contracts.results import DocumentResult


class DocumentReceipt(Wire):
    """A document in the store: its content hash is its name."""

    sha256: str
    bytes: int
    page_count: int
    kind: DocumentKind = "pdf"


class SurveyRequest(Wire):
    """Survey pages of a stored document: all, or those between two ends of the survey's chunks."""

    job_id: str
    sha256: str
    page_count: int
    kind: DocumentKind = "pdf"
    sealed_password: str | None = None
    first: int = 1
    last: int | None = None


class SurveyReceipt(Wire):
    """One classification letter a page; texts and reasons are in the store."""

    classes: str


class AttemptRequest(Lean):
    """One attempt at one page on one route."""

    brief: str
    page: int
    seconds: float
    route: int = 0
    # `changes` of the route's and the provider's breaker when the attempt was chosen.
    begun_at: tuple[int, int] = (0, 0)
    # How often a person has asked to read this page again after a model had read it.
    take: int = 0
    # It has other routes to go to, and waits for a slot of this one no longer than a moment.
    hurried: bool = False
    # The page's first, second, ... over all its routes: for people.
    attempt: int = 1
    # The route has answered in this document: nothing of its time is kept for other routes, and
    # what the attempt waited for a slot is not taken off. Only under the adaptive rule.
    proven: bool = False
    # What the workflow understands of the attempt's end. From 2 on: which worker served it, and
    # that its line rests. Workflows of before took neither in, and a replay must do as they did.
    protocol: int = 1


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
    # The route that read it, by its place in the chain, where it is not the attempt's own: a run
    # that this one replaced had it read there.
    read_by: int | None = None
    # The vendor said that what is left of its rate is used up: the route rests so long.
    pause_s: float | None = None
    # Who served it: a short name that a worker keeps for its life.
    worker: str = ""


class AttemptFailure(Lean):
    """A page was not read; `kind` is a row of the failure table."""

    kind: FailureKind
    message: str
    milliseconds: int = 0
    retry_after_s: float | None = None
    # What the vendor bills for it all the same.
    wasted: Paid = NOTHING


class AttemptRest(Lean):
    """No call was made: to the worker, the line looks dead. Moments are told by how far they are
    from now, since two machines' clocks are never compared."""

    reason: str
    # How long it is left alone from now on, and how long ago it failed first.
    rest_s: float
    failing_s: float = 0.0
    # It is the provider's line, and not the route's alone.
    of_provider: bool = False


class FinalizeRequest(Wire):
    """Merge what the pages became into `text.txt` and `result.json`."""

    job_id: str
    source: str
    sha256: str
    reading: str
    user_id: str
    page_count: int
    kind: DocumentKind = "pdf"
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
    # For pages whose survey is gone from the store: they are surveyed again.
    sealed_password: str | None = None
    # How often the document was stuck and started again.
    healed: int = 0


class ReuseRequest(Wire):
    """Look for a stored result, and make it this job's."""

    job_id: str
    source: str
    origin: str
    sha256: str
    finished: str
    user_id: str
    started_at: str
    # How often the document was stuck and started again.
    healed: int = 0
    # Only vendors' models are wanted: a result with pages by local OCR is none, whether these were
    # read so by choice or, before there was `ocr_fallback`, because vendors failed.
    without_ocr: bool = Field(default=False, exclude_if=is_false)


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

    source: DocumentReceipt
    routes: tuple[str, ...]
    # Pages that stay as they are, and pages to be read again as they were before.
    records: tuple[PageRecord, ...]
    again: tuple[PageRecord, ...]
    version: int
