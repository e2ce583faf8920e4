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
from quire.contracts.steps import AttemptReceipt, AttemptRest
from quire.domain.document.attempts import DEADLINE, OK
from quire.domain.routing.selection import select
from quire.domain.routing.time_budget import seconds_after_waiting
from tests.domain.laws import judge
from tests.domain.strategies import KINDS, failure
from workflows.document.dispatch import DispatchState
from workflows.document.flights import Flight

CROWDED = "crowded"
STOOD_DOWN = "stood_down"
RESTING = "resting"
# The store had the answer, so no vendor was asked.
STORED = "stored"
STEPS_AT_MOST = 5000
TOO_LATE = PageError(error="Too late.", code=Code.GW_TIMEOUT, error_type="retryable")


class Outcome(NamedTuple):
    """What a vendor does with one call, and how long it takes over it."""

    what: str = OK
    seconds: float = 1.0
    retry_after_s: float | None = None


# What becomes of a call, by the route's place, the page and the time.
Vendor = Callable[[int, int, float], Outcome]


NO_ANSWER_YET = Outcome()


class Stuck(AssertionError):
    """Nothing is under way, pages wait, and nothing will ever wake the document."""


@dataclass
class Simulation:
    """`script` holds the outcomes of each route by its place, taken in turn and round again; or it
    is a vendor that decides each call.

    A route has as many slots as its limit; an attempt queued behind them starts when one is free.
    """

    books: DispatchState
    script: Mapping[int, Sequence[Outcome]] | Vendor
    now: float
    watch: Callable[["Simulation"], None] = lambda simulation: None
    # So many workers serve every route, each with the route's limit of its own.
    workers: int = 1
    # Attempts handed out and vendors called, by route: in all, and when it failed first.
    begun: Counter[int] = field(default_factory=Counter)
    calls: Counter[int] = field(default_factory=Counter)
    begun_by_first_failure: dict[int, int] = field(default_factory=dict)
    calls_by_first_failure: dict[int, int] = field(default_factory=dict)
    selections: list[Selection] = field(default_factory=list)
    timed_out: bool = False
    drained: bool = False

    def __post_init__(self) -> None:
        routes = range(len(self.books.routes))
        self._queued: dict[int, deque[Call]] = {i: deque() for i in routes}
        # By the attempt's number.
        self._running: dict[int, Call] = {}
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

    def told_to_rest(self, flight: Flight) -> AttemptRest | None:
        return None

    def call_begins(self, flight: Flight) -> None:
        """A worker is about to call the vendor."""

    def call_ended(self, flight: Flight, outcome: Outcome) -> None:
        """The vendor's end of a call."""

    def saw_failure(self, page: int, flight: Flight, kind: FailureKind) -> None:
        """A worker saw this failure, a moment before the workflow does."""

    # --- what happens --------------------------------------------------------------------------

    def _select(self) -> Selection:
        snapshot = self.books.snapshot(self.now)
        selection = select(snapshot)
        judge(snapshot, selection)
        self.selections.append(selection)
        for assignment, flight in self.books.apply(selection, self.now):
            self.begun[flight.route] += 1
            self._queued[flight.route].append(Call(assignment.page, flight))
        for route in self._queued:
            self._fill_slots(route)
        self._wake_at = selection.wake_at
        return selection

    def _fill_slots(self, route: int) -> None:
        queue = self._queued[route]
        while queue and self._slots_taken(route) < self._slots(route):
            self._start(queue.popleft())

    def _slots(self, route: int) -> int:
        return self.books.routes[route].limit * self.workers

    def _slots_taken(self, route: int) -> int:
        return sum(1 for call in self._running.values() if call.flight.route == route)

    def _start(self, call: "Call") -> None:
        flight = call.flight
        self._running[flight.number] = call
        call.started = self.now
        if self.stands_down(call.page, flight):
            call.outcome = Outcome(STOOD_DOWN, 0.0)
            return
        call.told = self.told_to_rest(flight)
        if call.told is not None:
            call.outcome = Outcome(RESTING, 0.0)
            return
        self.call_begins(flight)
        call.outcome = self._asked(call)
        self.calls[flight.route] += 1
        given = flight.seconds
        if not (self.books.adaptive and flight.route in self.books.answered):
            timeout_s = self.books.routes[flight.route].timeout_s
            given = seconds_after_waiting(given, timeout_s, self.now - flight.since)
        if call.outcome.seconds > given:
            call.outcome = Outcome(FailureKind.TIMEOUT.value, given)

    def _asked(self, call: "Call") -> Outcome:
        route = call.flight.route
        if callable(self.script):
            return self.script(route, call.page, self.now)
        outcomes = self.script[route]
        return outcomes[self.calls[route] % len(outcomes)]

    def _wait(self) -> None:
        moments = [self.books.deadline, *(call.ends for call in self._running.values())]
        if self._wake_at is not None:
            assert self._wake_at > self.now, "a wake time must lie ahead"
            moments.append(self._wake_at)
        elif not self._running:
            raise Stuck(f"{len(self.books.waiting)} pages wait for nothing")
        self.now = min(moments)
        if self._wake_at is not None and self._wake_at <= self.now:
            self._wake_at, self._woken = None, True
        # Slots are taken again at once, before the workflow hears of any of these ends.
        ended = [call for call in self._running.values() if call.ends <= self.now]
        for call in ended:
            route = call.flight.route
            if call.outcome.what in (OK, *KINDS):
                self.call_ended(call.flight, call.outcome)
            if call.outcome.what in KINDS:
                self.saw_failure(call.page, call.flight, FailureKind(call.outcome.what))
                self.begun_by_first_failure.setdefault(route, self.begun[route])
                self.calls_by_first_failure.setdefault(route, self.calls[route])
        for call in ended:
            del self._running[call.flight.number]
        for route in self._queued:
            self._fill_slots(route)
        for call in ended:
            if not call.called_off:
                self._settle(call)

    def _settle(self, call: "Call") -> None:
        books, page, number = self.books, call.page, call.flight.number
        what, seconds, retry_after_s = call.outcome
        milliseconds = round(seconds * 1000)
        if what in (OK, STORED):
            receipt = AttemptReceipt(
                milliseconds=milliseconds,
                chars=1,
                stored=what == STORED,
                worker=f"worker {number % self.workers}",
            )
            other = books.succeeded(page, receipt, self.now, number)
            if other is not None:
                self._call_off(other)
        elif what in (CROWDED, STOOD_DOWN):
            books.stood_aside(page, self.now, crowded=what == CROWDED, attempt=number)
        elif call.told is not None:
            books.rested(page, call.told, self.now, number)
        else:
            failed = failure(FailureKind(what), retry_after_s)
            failed = failed.model_copy(update={"milliseconds": milliseconds})
            books.failed(page, failed, self.now, number)

    def _call_off(self, flight: Flight) -> None:
        """The loser of two attempts; it may have ended at this very moment."""
        queue = self._queued[flight.route]
        for call in [*self._running.values(), *queue]:
            call.called_off |= call.flight.number == flight.number
        self._queued[flight.route] = deque(call for call in queue if not call.called_off)
        self._running.pop(flight.number, None)
        self._fill_slots(flight.route)

    def _look(self) -> None:
        """The books add up at every moment."""
        books = self.books
        where = [*books.waiting, *books.flights, *books.records]
        assert sorted(where) == sorted(books.pages), "each page is in exactly one place"
        assert set(books.flights.hedges) <= set(books.flights)
        turns = [(books.pages[number].back_since, number) for number in books.waiting]
        assert turns == sorted(turns)
        assert books.flights.count <= books.policy.window
        for index, route in enumerate(books.routes):
            most = (2 * route.limit + route.ahead) * self.workers
            assert books.in_flight_on(index) <= most
        self._look_at_breakers()
        self.watch(self)

    def _look_at_breakers(self) -> None:
        for key, breaker in self.books.health.breakers.items():
            assert breaker.retry_at >= self._retry_at.get(key, 0.0), "a cooldown was shortened"
            self._retry_at[key] = breaker.retry_at
            assert breaker.width is None or breaker.width >= 1
            if breaker.state is BreakerState.HALF_OPEN and self.books.flights:
                probes = [
                    flight
                    for _, flight in self.books.flights.every()
                    for place, name in enumerate(self._names(flight))
                    if name == key and flight.begun_at[place] == breaker.changes
                ]
                assert len(probes) == 1, f"{len(probes)} probes for {key}"

    def _names(self, flight: Flight) -> tuple[str, str]:
        route = self.books.routes[flight.route]
        return route.key, route.provider


@dataclass
class Call:
    """One attempt on its way: queued, then running to its end."""

    page: int
    flight: Flight
    started: float = 0.0
    outcome: Outcome = NO_ANSWER_YET
    called_off: bool = False
    told: AttemptRest | None = None

    @property
    def ends(self) -> float:
        return self.started + self.outcome.seconds
