"""Routes, breakers and selections, as they stand in history."""

from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import Field

from quire.contracts.base import Lean, Wire
from quire.contracts.page import Classification


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class BreakerPolicy(Wire):
    """When a breaker opens, and for how long."""

    trip: Literal["first", "window"] = "first"
    base_backoff_s: float = Field(default=30.0, gt=0)
    max_backoff_s: float = Field(default=300.0, gt=0)
    window: int = Field(default=20, ge=1)
    threshold: float = Field(default=0.5, gt=0, le=1)
    # Wrong keys, empty accounts and unknown models do not heal while a document is read.
    long_rest_s: float = 3600.0


class Breaker(Wire):
    """One route's (or one provider's) health as one document has seen it."""

    state: BreakerState = BreakerState.CLOSED
    retry_at: float = 0.0
    failures: int = 0
    changes: int = 0
    recent: str = ""
    reason: str = ""


Tier = Literal["primary", "secondary", "fast"]


class Route(Wire):
    """One model of one provider, with the limits it is used under."""

    provider: str
    model: str
    limit: int = 2
    timeout_s: float = 60.0
    # A last resort is tried only when every other route of the page has failed or rests.
    last_resort_for: Literal["none", "scanned", "every_page"] = "none"
    # Attempts that a worker takes up beyond the limit; none in plans from before there were any.
    ahead: int = 0

    @property
    def key(self) -> str:
        return f"{self.provider}:{self.model}"

    def serves(self, classification: Classification) -> bool:
        """Is this route in the chain of such a page at all?"""
        return self.last_resort_for != "scanned" or classification is Classification.SCANNED

    @property
    def is_last_resort(self) -> bool:
        return self.last_resort_for != "none"


class ProviderPlan(Wire):
    """What one provider offers, as configured on the worker."""

    models: dict[str, str]
    timeout_s: float = 60.0
    # Why its routes must be left out; empty when it can be called.
    missing: str = ""


class ChainRequest(Wire):
    """All that decides a chain."""

    engine: str
    # The engine was asked for by name, and is not just the default.
    engine_asked: bool = False
    tier: Tier = "primary"
    other_engine: str = ""
    explicit: tuple[str, ...] = ()
    providers: dict[str, ProviderPlan]
    local_ocr: Literal["auto", "always", "never"] = "auto"
    local_missing: str = ""
    limit: int = 2
    local_limit: int = 1
    local_timeout_s: float = 120.0


class Chain(Wire):
    """The routes in order, and what was left out and why."""

    routes: tuple[Route, ...]
    left_out: tuple[str, ...] = ()


class DispatchPolicy(Wire):
    """How eagerly pages move on, and how many may be under way."""

    mode: Literal["fail_fast", "hold"] = "fail_fast"
    when_busy: Literal["spill", "wait"] = "spill"
    window: int = 32
    max_rounds: int = 3
    base_delay_s: float = 5.0
    jitter_max_s: float = 5.0


class RouteView(Wire):
    """One route as it stands."""

    route: Route
    breaker: Breaker = Breaker()
    provider_breaker: Breaker = Breaker()
    in_flight: int = 0
    # Other documents keep our attempts from starting here until then.
    crowded_until: float = 0.0
    # It has answered in this document, so it is alive.
    answered: bool = False


class PageView(Wire):
    """One waiting page: the routes it may not try (again), its round, and its earliest time."""

    page: int
    classification: Classification
    barred: tuple[int, ...] = ()
    # Barred for good: a new round does not lift these.
    barred_for_good: tuple[int, ...] = ()
    round: int = 0
    not_before: float = 0.0


class Snapshot(Wire):
    """All that a selection looks at."""

    job_id: str
    now: float
    deadline: float
    in_flight: int
    policy: DispatchPolicy
    routes: tuple[RouteView, ...]
    pages: tuple[PageView, ...]


class Assignment(NamedTuple):
    """Start this page on this route. A tuple, since history holds one for each attempt.

    `behind`: queued behind attempts of this document, so that no slot stands still.
    """

    page: int
    route: int
    seconds: float
    how: Literal["now", "probe", "behind"] = "now"


class Deferral(Wire):
    """A page takes another round, not before this time."""

    page: int
    not_before: float


class Selection(Lean):
    """What to do now. `wake_at` is None when only the end of an attempt can change anything."""

    assign: tuple[Assignment, ...] = ()
    fall_back: tuple[int, ...] = ()
    defer: tuple[Deferral, ...] = ()
    wake_at: float | None = None
