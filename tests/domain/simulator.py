"""A whole document in no time: the workflow's loop around the books, with a virtual clock.

The loop is that of workflows/document/dispatcher.py; what changes there changes here.
Time moves only to the end of an attempt, to the wake time of a selection, or to the deadline.
Every selection is held against the laws on its way.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from quire.contracts.codes import Code, FailureKind
from quire.contracts.page import PageError, TextSource
from quire.contracts.routing import BreakerState
from quire.contracts.selection import Selection
from quire.contracts.steps import AttemptReceipt
from quire.domain.document.attempts import DEADLINE, OK
from quire.domain.routing.selection import select
from tests.domain.laws import judge
from tests.domain.strategies import KINDS, failure
from workflows.document.dispatch import DispatchState, Flight

CROWDED = "crowded"
STOOD_DOWN = "stood_down"
# The store had the answer, so no vendor was asked.
STORED = "stored"
STEPS_AT_MOST = 5000
TOO_LATE = PageError(error="Too late.", code=Code.GW_TIMEOUT, error_type="retryable")


class Outcome(NamedTuple):
    """What a vendor does with one call, and how long it takes over it."""

    what: str = OK
    seconds: float = 1.0
    retry_after_s: float | None = None


class Stuck(AssertionError):
    """Nothing is under way, pages wait, and nothing will ever wake the document."""


@dataclass
class Simulation:
    """`script` holds the outcomes of each route by its place, taken in turn and round again.

    A route has as many slots as its limit; an attempt queued behind them starts when one is free.
    """

    books: DispatchState
    script: Mapping[int, Sequence[Outcome]]
    now: float
    watch: Callable[["Simulation"], None] = lambda simulation: None
    # Attempts handed out and vendors called, by route: in all, and when it failed first.
    begun: Counter[int] = field(default_factory=Counter)
    calls: Counter[int] = field(default_factory=Counter)
    begun_by_first_failure: dict[int, int] = field(default_factory=dict)
    calls_by_first_failure: dict[int, int] = field(default_factory=dict)
    selections: list[Selection] = field(default_factory=list)
    timed_out: bool = False
    drained: bool = False

    def __post_init__(self) -> None:
        self._queued: dict[int, deque[int]] = {i: deque() for i in range(len(self.books.routes))}
        self._ends: dict[int, tuple[float, str, float | None]] = {}
        self._wake_at: float | None = None
        self._woken = False
        self._retry_at: dict[str, float] = {}

    def run(self, *, drain_after: int | None = None) -> "Simulation":
        """To the end; or, after so many selections, until nothing is in flight any more."""
        books = self.books
        draining = False
        for _ in range(STEPS_AT_MOST):
            if books.finished or self.now >= books.deadline:
                break
            draining |= drain_after is not None and len(self.selections) >= drain_after
            if draining and not books.flights:
                self.drained = True
                return self
            if not draining and (self._woken or books.wants_selection()):
                self._woken = False
                selection = self._select()
                self._look()
                if selection.fall_back or selection.defer:
                    self._woken = True
                    continue
            if not books.finished:
                self._wait()
            self._look()
        else:
            raise AssertionError(f"no end after {STEPS_AT_MOST} steps")
        self.timed_out = not books.finished
        books.stop(TextSource.MUPDF_TIMEOUT_FALLBACK, DEADLINE, TOO_LATE)
        self._look()
        return self

    # --- a worker of our own may refuse to call: see tests/activities/test_attempt_gate.py ---

    def stands_down(self, page: int, flight: Flight) -> bool:
        return False

    def saw_failure(self, page: int, flight: Flight, kind: FailureKind) -> None:
        """A worker saw this failure, a moment before the workflow does."""

    # --- what happens --------------------------------------------------------------------------

    def _select(self) -> Selection:
        snapshot = self.books.snapshot(self.now)
        selection = select(snapshot)
        judge(snapshot, selection)
        self.selections.append(selection)
        for assignment, flight in self.books.apply(selection):
            self.begun[flight.route] += 1
            self._queued[flight.route].append(assignment.page)
        for route in self._queued:
            self._fill_slots(route)
        self._wake_at = selection.wake_at
        return selection

    def _fill_slots(self, route: int) -> None:
        queue = self._queued[route]
        while queue and self._running(route) < self.books.routes[route].limit:
            self._start(queue.popleft())

    def _running(self, route: int) -> int:
        return sum(1 for page in self._ends if self.books.flights[page].route == route)

    def _start(self, page: int) -> None:
        flight = self.books.flights[page]
        if self.stands_down(page, flight):
            self._ends[page] = (self.now, STOOD_DOWN, None)
            return
        outcomes = self.script[flight.route]
        outcome = outcomes[self.calls[flight.route] % len(outcomes)]
        self.calls[flight.route] += 1
        what, seconds = outcome.what, outcome.seconds
        if seconds > flight.seconds:
            what, seconds = FailureKind.TIMEOUT.value, flight.seconds
        self._ends[page] = (self.now + seconds, what, outcome.retry_after_s)

    def _wait(self) -> None:
        moments = [self.books.deadline, *(end for end, _, _ in self._ends.values())]
        if self._wake_at is not None:
            assert self._wake_at > self.now, "a wake time must lie ahead"
            moments.append(self._wake_at)
        elif not self._ends:
            raise Stuck(f"{len(self.books.waiting)} pages wait for nothing")
        self.now = min(moments)
        if self._wake_at is not None and self._wake_at <= self.now:
            self._wake_at, self._woken = None, True
        # Slots are taken again at once, before the workflow hears of any of these ends.
        ended = {page: end for page, end in self._ends.items() if end[0] <= self.now}
        for page, (_, what, _) in ended.items():
            flight = self.books.flights[page]
            if what in KINDS:
                self.saw_failure(page, flight, FailureKind(what))
                self.begun_by_first_failure.setdefault(flight.route, self.begun[flight.route])
                self.calls_by_first_failure.setdefault(flight.route, self.calls[flight.route])
        for page in ended:
            del self._ends[page]
        for route in self._queued:
            self._fill_slots(route)
        for page, (_, what, retry_after_s) in ended.items():
            self._settle(page, what, retry_after_s)

    def _settle(self, page: int, what: str, retry_after_s: float | None) -> None:
        if what == OK:
            self.books.succeeded(page, AttemptReceipt(milliseconds=1, chars=1), self.now)
        elif what == STORED:
            self.books.succeeded(
                page, AttemptReceipt(milliseconds=1, chars=1, stored=True), self.now
            )
        elif what in (CROWDED, STOOD_DOWN):
            self.books.stood_aside(page, self.now, crowded=what == CROWDED)
        else:
            self.books.failed(page, failure(FailureKind(what), retry_after_s), self.now)

    def _look(self) -> None:
        """The books add up at every moment."""
        books = self.books
        where = [*books.waiting, *books.flights, *books.records]
        assert sorted(where) == sorted(books.pages), "each page is in exactly one place"
        assert books.waiting == sorted(books.waiting)
        assert len(books.flights) <= books.policy.window
        for index, route in enumerate(books.routes):
            assert books.in_flight_on(index) <= 2 * route.limit + route.ahead
        self._look_at_breakers()
        self.watch(self)

    def _look_at_breakers(self) -> None:
        for key, breaker in self.books.health.breakers.items():
            assert breaker.retry_at >= self._retry_at.get(key, 0.0), "a cooldown was shortened"
            self._retry_at[key] = breaker.retry_at
            if breaker.state is BreakerState.HALF_OPEN and self.books.flights:
                probes = [
                    flight
                    for flight in self.books.flights.values()
                    for place, name in enumerate(self._names(flight))
                    if name == key and flight.begun_at[place] == breaker.changes
                ]
                assert len(probes) == 1, f"{len(probes)} probes for {key}"

    def _names(self, flight: Flight) -> tuple[str, str]:
        route = self.books.routes[flight.route]
        return route.key, route.provider
