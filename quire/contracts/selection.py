"""What a selection looks at, and what it decides.

The workflow writes the snapshot, `select_routes` answers with the selection; history keeps both.
"""

from typing import Literal, NamedTuple

from pydantic import Field

from quire.contracts.base import Lean, Wire, is_empty, is_false
from quire.contracts.page import Classification
from quire.contracts.routing import Breaker, DispatchPolicy, Route


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
    # How long its last answers took, in milliseconds; only under the adaptive rule.
    latencies: tuple[int, ...] = Field(default=(), exclude_if=is_empty)
    # How many workers are known to serve it, each with the route's limit of its own.
    workers: int = 1

    @property
    def limit(self) -> int:
        """How many calls at once all workers together make."""
        return self.route.limit * self.workers

    @property
    def width(self) -> int:
        """How many it may make now: fewer where the vendor asked for a slower pace."""
        return self.limit if self.breaker.width is None else min(self.limit, self.breaker.width)


class FlightView(NamedTuple):
    """One attempt under way: since when, and the routes that its page may not be given to."""

    page: int
    route: int
    since: float
    barred: tuple[int, ...] = ()
    # Another attempt at the page is under way too.
    hedged: bool = False


class PageView(Wire):
    """One waiting page: the routes it may not try (again), its round, and its earliest time."""

    page: int
    classification: Classification
    barred: tuple[int, ...] = ()
    # Barred for good: a new round does not lift these.
    barred_for_good: tuple[int, ...] = ()
    round: int = 0
    not_before: float = 0.0
    # Routes whose last failure at this page was the vendor's fault, which may pass.
    let_down_by: tuple[int, ...] = Field(default=(), exclude_if=is_empty)


class Snapshot(Wire):
    """All that a selection looks at."""

    job_id: str
    now: float
    deadline: float
    in_flight: int
    policy: DispatchPolicy
    routes: tuple[RouteView, ...]
    pages: tuple[PageView, ...]
    # The breakers follow the adaptive rule; the fields below are filled only then.
    adaptive: bool = Field(default=False, exclude_if=is_false)
    # How many pages wait in all; `pages` are those in view.
    waiting: int = Field(default=0, exclude_if=is_false)
    flights: tuple[FlightView, ...] = Field(default=(), exclude_if=is_empty)
    # How many more pages may be asked of two routes at once.
    hedges_left: int = Field(default=0, exclude_if=is_false)


class Assignment(NamedTuple):
    """Start this page on this route. A tuple, since history holds one for each attempt.

    `behind`: queued behind attempts of this document, so that no slot stands still.
    `hedge`: the page is under way on another route too, for so long that this one may be sooner.
    """

    page: int
    route: int
    seconds: float
    how: Literal["now", "probe", "behind", "hedge"] = "now"


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
    # A call takes so long that its page should be asked elsewhere too, but no route is free.
    hedge_due: bool = False
