"""What people are shown of a document under way, besides its pages. No step decides by it."""

from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum

from quire.contracts.carried import Carried
from quire.contracts.page import PageError
from quire.domain.cost import Spending

ERRORS_KEPT = 5


class Phase(StrEnum):
    """The step that a document is at. The values are public: `status` answers with them."""

    STARTING = "starting"
    INGEST = "ingest"
    SURVEY = "survey"
    DISPATCH = "dispatch"
    FINALIZE = "finalize"
    DONE = "done"
    FAILED = "failed"


@dataclass
class Progress:
    """Read by the queries, the details and the reporter. Written by each step about itself:
    `DocumentWorkflow` and `Preparation` set the phase, `Dispatcher` the page that it began and
    what was spent, `DocumentState` what follows from an attempt's or the document's end."""

    heartbeat: float
    phase: Phase = Phase.STARTING
    current: int | None = None
    last_completed: int | None = None
    spent: Spending = field(default_factory=Spending)
    # (page, route, error) of attempts that failed, the newest last.
    last_errors: deque[tuple[int, str, PageError]] = field(
        default_factory=lambda: deque(maxlen=ERRORS_KEPT)
    )

    def take_up(self, carried: Carried) -> None:
        """Go on from what an earlier run has spent and seen fail."""
        self.spent = Spending(*carried.spent)
        self.last_errors.extend(carried.last_errors)

    def add_error(self, page: int, route: str, error: PageError) -> None:
        """The newest failure; the oldest one makes room."""
        self.last_errors.append((page, route, error))
