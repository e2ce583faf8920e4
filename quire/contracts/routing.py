"""Routes, the policies under which they are used, and breakers.

Written by `plan_document` from the settings, and the breakers by the workflow; they stand in the
plan, in snapshots and in what is carried between runs. Read by the workflow, the selection and the
activities."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from quire.contracts.base import Wire, is_empty, is_false, is_none
from quire.contracts.page import Classification


class BreakerState(StrEnum):
    """May a route be used? `half_open` while its one probe is under way."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


# What opens a breaker: the first failure, a share of a window of calls, or what sort of failure it
# was and how long it lasts. The defaults of wire types stay as plans of before lack them.
Trip = Literal["first", "window", "adaptive"]
# What becomes of a page that no route takes now.
Mode = Literal["fail_fast", "hold", "adaptive"]
# The vendor asks for a slower pace, fails, or will not serve us at all.
Sort = Literal["", "pace", "sick", "out"]


class BreakerPolicy(Wire):
    """When a breaker opens, and for how long."""

    trip: Trip = "first"
    base_backoff_s: float = Field(default=30.0, gt=0)
    max_backoff_s: float = Field(default=300.0, gt=0)
    window: int = Field(default=20, ge=1)
    threshold: float = Field(default=0.5, gt=0, le=1)
    # Wrong keys, empty accounts and unknown models do not heal while a document is read.
    long_rest_s: float = 3600.0
    # Every rest is this long; without it, rests double up to the longest.
    cooldown_s: float | None = Field(default=None, gt=0, exclude_if=is_none)
    # The window holds the calls of this time, and not a number of them.
    window_s: float | None = Field(default=None, gt=0, exclude_if=is_none)


class Breaker(Wire):
    """One route's (or one provider's) health as one document has seen it."""

    state: BreakerState = BreakerState.CLOSED
    retry_at: float = 0.0
    failures: int = 0
    changes: int = 0
    recent: str = ""
    reason: str = ""
    # When the calls in `recent` ended; only where the window is a time.
    times: tuple[float, ...] = Field(default=(), exclude_if=is_empty)
    # The rest is of the adaptive rule only. Failures of one sort in a row, and that sort; a closed
    # breaker of the sort `pace` rests until `retry_at`.
    streak: int = Field(default=0, exclude_if=is_false)
    sort: Sort = Field(default="", exclude_if=is_false)
    # When the first of the failures that still last happened.
    since: float = Field(default=0.0, exclude_if=is_false)
    last_answer: float = Field(default=0.0, exclude_if=is_false)
    # It has answered or refused in this document: it is alive.
    answered: bool = Field(default=False, exclude_if=is_false)
    # So many calls at once, after the vendor asked for a slower pace; None is no limit of its own.
    width: int | None = Field(default=None, exclude_if=is_none)
    # How many long rests it has had since it looks dead.
    long_rests: int = Field(default=0, exclude_if=is_false)
    # A worker found it dead in another document, and made no call for this one.
    learned: bool = Field(default=False, exclude_if=is_false)

    @property
    def rests(self) -> bool:
        """It is left alone until `retry_at`: it is open, or was asked to slow down."""
        paced = self.state is BreakerState.CLOSED and self.sort == "pace"
        return self.state is BreakerState.OPEN or paced


Tier = Literal["primary", "secondary", "fast"]


class Route(Wire):
    """One model of one provider, with the limits it is used under."""

    provider: str
    model: str
    limit: int = 2
    timeout_s: float = 60.0
    # A last resort is tried only when every other route of the page has failed or rests.
    last_resort_for: Literal["none", "scanned", "every_page"] = "none"
    # Attempts that a worker takes up beyond the limit; none in plans from before there were any,
    # nor where calls are counted by the second.
    ahead: int = 0
    # So many calls a second begin at most, on all workers together: the server keeps to it.
    rate: float | None = Field(default=None, exclude_if=is_none)
    # What it reads it reads in the place of vendors that failed: such a page is degraded. No route
    # does that in plans from before there was `ocr_fallback`.
    degrades: bool = Field(default=False, exclude_if=is_false)

    @property
    def key(self) -> str:
        """`provider:model`, as people and metrics name it."""
        return f"{self.provider}:{self.model}"

    def serves(self, classification: Classification) -> bool:
        """Is this route in the chain of such a page at all?"""
        return self.last_resort_for != "scanned" or classification is Classification.SCANNED

    @property
    def is_last_resort(self) -> bool:
        """Only for pages that no other route could read."""
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
    rate: float | None = None
    local_limit: int = 1
    local_timeout_s: float = 120.0


class Chain(Wire):
    """The routes in order, and what was left out and why."""

    routes: tuple[Route, ...]
    left_out: tuple[str, ...] = ()

    @property
    def vendor_routes(self) -> int:
        """How many routes it has besides last resorts."""
        return sum(not route.is_last_resort for route in self.routes)


class DispatchPolicy(Wire):
    """How eagerly pages move on, and how many may be under way."""

    mode: Mode = "fail_fast"
    when_busy: Literal["spill", "wait"] = "spill"
    window: int = 32
    max_rounds: int = 3
    base_delay_s: float = 5.0
    jitter_max_s: float = 5.0
    # The longest delay before a further round, without the jitter.
    max_delay_s: float | None = Field(default=None, exclude_if=is_none)
