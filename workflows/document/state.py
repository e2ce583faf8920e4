"""The state of one document: what its workflow knows, and what is carried between runs."""

from dataclasses import astuple, dataclass
from datetime import UTC, datetime

from quire.contracts.carried import Carried
from quire.contracts.codes import ErrorInfo
from quire.contracts.page import TextSource
from quire.contracts.plan import DocumentPlan
from quire.contracts.watch import Healed
from quire.domain import errors
from quire.domain.document.attempts import CANCELLED, DEADLINE
from quire.domain.document.deadline import deadline_words
from quire.domain.document.stuck import HEALED_WARNING
from workflows.document.chosen_pages import ChosenPages
from workflows.document.progress import Phase, Progress
from workflows.document.version import ResultVersion


@dataclass
class DocumentEnd:
    """How the document ended. Written by `DocumentWorkflow` alone, through `DocumentState`."""

    # Pages were lost to the deadline, or to a cancellation.
    timed_out: bool = False
    cancelled: bool = False
    completed_at: float | None = None
    # What the result says of itself.
    message: str = ""
    error: ErrorInfo | None = None


class DocumentState:
    """The document's own facts, and its parts. Each part names its writers:

    pages     which pages there are, and where each one stands
    version   which result is under way, and what is new in it
    progress  what people are shown besides
    end       how the document ended

    Its methods are called by `Preparation` (the plan), by `DeadlineTimer` (the deadline), by
    `Dispatcher` (the ends of attempts) and by `DocumentWorkflow` (the rest). Queries, details and
    reporter only read.
    """

    def __init__(self, job_id: str, started: float, healed: Healed | None = None) -> None:
        self.job_id = job_id
        self.started = started
        self.healed = healed or Healed()
        self.plan: DocumentPlan | None = None
        self.deadline: float | None = None
        self.sha256 = ""
        # Routes that records of an earlier run name, beyond the plan's.
        self.past_routes: tuple[str, ...] = ()
        self.pages = ChosenPages()
        self.version = ResultVersion()
        self.progress = Progress(heartbeat=started)
        self.end = DocumentEnd()

    # --- what happens ------------------------------------------------------------------------

    def set_plan(self, plan: DocumentPlan, deadline: float) -> None:
        """It is decided how and until when the document is read."""
        self.plan = plan
        self.deadline = deadline

    def set_deadline(self, deadline: float) -> None:
        """The deadline has moved."""
        self.deadline = deadline

    def take_up(self, carried: Carried, *, text_only: bool) -> None:
        """Begin to read pages, or go on where an earlier run ended."""
        self.set_plan(carried.plan, carried.deadline)
        self.started = carried.started
        self.sha256 = carried.source.sha256
        self.past_routes = carried.past_routes
        self.version.take_up(carried)
        self.progress.take_up(carried)
        self.pages.take_up(self.job_id, carried, text_only=text_only)

    def carry(self, carried: Carried) -> Carried:
        """The same document for its next run, as far as it has come."""
        return carried.model_copy(
            update={
                "deadline": self.deadline,
                "records": self.pages.vision_records(),
                "dispatch": self.pages.require_dispatch().carry(),
                "spent": astuple(self.progress.spent),
                "version": self.version.number,
                "changed": tuple(sorted(self.version.changed)),
                "again": (),
                "also_vision": self.pages.vision,
                "classes": self.pages.letters,
                "last_errors": tuple(self.progress.last_errors),
            }
        )

    def attempt_settled(self, number: int, now: float) -> None:
        """An attempt at this page came to its end, and perhaps the page with it."""
        self.progress.heartbeat = now
        if number in self.pages.require_dispatch().records:
            self.progress.last_completed = number
            self.version.page_ended(number)

    def attempt_failed(self, number: int) -> None:
        """The page's last attempt failed."""
        page = self.pages.require_dispatch().pages[number]
        if page.error is not None:
            self.progress.add_error(number, self.route_keys[page.attempts[-1].route], page.error)

    def close(self, *, timed_out: bool, cancelled: bool) -> None:
        """No page is read any more: those still open get what there is."""
        open_pages = not self.pages.finished
        cancelled = cancelled and open_pages
        timed_out = timed_out and open_pages and not cancelled
        if cancelled:
            lost = self.pages.stop(TextSource.MUPDF_FALLBACK, CANCELLED, errors.page_called_off())
        else:
            lost = self.pages.stop(
                TextSource.MUPDF_TIMEOUT_FALLBACK, DEADLINE, errors.page_too_late()
            )
        self.end.cancelled = cancelled
        self.end.timed_out = timed_out and lost

    def complete(self, now: float, message: str = "") -> None:
        """The document has its text."""
        self.end.message = message
        self.progress.phase = Phase.DONE
        self.progress.heartbeat = self.end.completed_at = now

    def fail(self, error: ErrorInfo, now: float) -> None:
        """There is no document."""
        self.end.error = error
        self.progress.phase = Phase.FAILED
        self.progress.heartbeat = self.end.completed_at = now

    # --- what is so --------------------------------------------------------------------------

    @property
    def started_at(self) -> str:
        """When the document's first run began, as results write it."""
        return datetime.fromtimestamp(self.started, UTC).isoformat()

    @property
    def estimate(self) -> str:
        """What reading takes, where the deadline was set by it."""
        if self.plan is None or self.deadline is None or self.pages.dispatch is None:
            return ""
        unsurveyed = len(self.pages.unsurveyed)
        pages = len(self.pages.dispatch.pages) + unsurveyed
        allowed_s = self.deadline - self.started
        return deadline_words(self.plan, pages, known=not unsurveyed, allowed_s=allowed_s)

    @property
    def engine(self) -> str:
        """The provider of the first route."""
        return self.plan.engine if self.plan else "none"

    @property
    def route_keys(self) -> tuple[str, ...]:
        """What the numbers in records mean: the plan's routes, or those of a past run.

        Records of a past run were renumbered to stand behind the plan's routes.
        """
        own = tuple(route.key for route in self.plan.chain.routes) if self.plan else ()
        return own + self.past_routes

    @property
    def warnings(self) -> tuple[str, ...]:
        """That it was stuck, and routes that were left out, where a model was needed at all."""
        left_out = self.plan.chain.left_out if self.plan and self.pages.vision else ()
        return (*left_out, HEALED_WARNING) if self.healed.count else left_out
