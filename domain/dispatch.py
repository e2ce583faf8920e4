"""The bookkeeping of one document's pages: what is waiting, under way and done.

The workflow tells it what happened and when; it answers with snapshots for the selection and
with the records of finished pages. It holds no clock and never waits.
"""

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from domain import breaker as breakers
from domain.breaker import Breaker, BreakerPolicy
from domain.budget import timeout_counts
from domain.contracts import (
    LOCAL_PROVIDER,
    Attempt,
    AttemptFailure,
    AttemptReceipt,
    Classification,
    PageError,
    PageRecord,
    Source,
)
from domain.errors import MEANING, Code, FailureKind
from domain.routes import Route
from domain.selection import (
    Assignment,
    DispatchPolicy,
    PageView,
    RouteView,
    Selection,
    Snapshot,
)

# A selection looks at the pages that could start now and a few more; the rest can wait unseen.
PAGES_IN_VIEW = 64
# How long a route that other documents keep full is left alone, doubling while it stays so.
CROWDED_FOR_S = 2.0
CROWDED_AT_MOST_S = 60.0
STOOD_DOWN_FOR_S = 0.25


@dataclass
class Flight:
    """One attempt under way."""

    route: int
    seconds: float
    begun_at: tuple[int, int]
    probe: bool


@dataclass
class Page:
    """One page that needs vision, until it is done."""

    page: int
    classification: Classification
    barred: list[int] = field(default_factory=list)
    barred_for_good: list[int] = field(default_factory=list)
    round: int = 0
    not_before: float = 0.0
    attempts: list[Attempt] = field(default_factory=list)
    error: PageError | None = None


@dataclass
class Crowd:
    until: float = 0.0
    strikes: int = 0


class Dispatch:
    """Every page enters waiting, and ends exactly once, as one record."""

    def __init__(
        self,
        *,
        job_id: str,
        routes: tuple[Route, ...],
        dispatch: DispatchPolicy,
        breaker: BreakerPolicy,
        deadline: float,
        vision: Mapping[int, Classification],
    ) -> None:
        self.job_id = job_id
        self.routes = routes
        self.policy = dispatch
        self.breaker_policy = breaker
        self.deadline = deadline
        self.pages = {n: Page(n, vision[n]) for n in sorted(vision)}
        self.waiting: list[int] = sorted(vision)
        self.flights: dict[int, Flight] = {}
        self.records: dict[int, PageRecord] = {}
        self.breakers: dict[str, Breaker] = {}
        for route in routes:
            self.breakers[route.key] = Breaker()
            self.breakers[route.provider] = Breaker()
        self.answered: set[int] = set()
        self.crowds = [Crowd() for _ in routes]

    # --- what the selection sees -------------------------------------------------------------

    @property
    def finished(self) -> bool:
        return not self.waiting and not self.flights

    def wants_selection(self) -> bool:
        """Could a selection change anything? Keeps idle ones out of the history.

        While every slot is taken and pages are queued behind the slots, the next look can wait
        until half of that queue is used up.
        """
        if not self.waiting or len(self.flights) >= self.policy.window:
            return False
        if not self.flights:
            return True
        load = self._load()
        for index, route in enumerate(self.routes):
            if route.is_last_resort:
                continue
            healthy = self.breakers[route.key].state is breakers.BreakerState.CLOSED
            queue = route.limit // 2 if healthy and index in self.answered else 0
            if load[index] < route.limit + queue:
                return True
            if healthy and self.policy.when_busy == "wait":
                return False
        return False

    def snapshot(self, now: float) -> Snapshot:
        load = self._load()
        return Snapshot(
            job_id=self.job_id,
            now=now,
            deadline=self.deadline,
            in_flight=len(self.flights),
            policy=self.policy,
            routes=tuple(
                RouteView(
                    route=route,
                    breaker=self.breakers[route.key],
                    provider_breaker=self.breakers[route.provider],
                    in_flight=load[index],
                    crowded_until=self.crowds[index].until,
                    answered=index in self.answered,
                )
                for index, route in enumerate(self.routes)
            ),
            pages=tuple(self._view(self.pages[n]) for n in self.waiting[:PAGES_IN_VIEW]),
        )

    def in_flight_on(self, route: int) -> int:
        return sum(1 for flight in self.flights.values() if flight.route == route)

    def _load(self) -> list[int]:
        load = [0] * len(self.routes)
        for flight in self.flights.values():
            load[flight.route] += 1
        return load

    def _view(self, page: Page) -> PageView:
        return PageView(
            page=page.page,
            classification=page.classification,
            barred=tuple(page.barred),
            barred_for_good=tuple(page.barred_for_good),
            round=page.round,
            not_before=page.not_before,
        )

    # --- what happened -----------------------------------------------------------------------

    def apply(self, selection: Selection) -> list[tuple[Assignment, Flight]]:
        """Carry a selection out in the books; returns the attempts to start."""
        started = [(assignment, self._begin(assignment)) for assignment in selection.assign]
        for number in selection.fall_back:
            self.waiting.remove(number)
            self._end(number, Source.MUPDF_FALLBACK)
        for deferral in selection.defer:
            page = self.pages[deferral.page]
            page.round += 1
            page.not_before = deferral.not_before
            page.barred = list(page.barred_for_good)
        return started

    def _begin(self, assignment: Assignment) -> Flight:
        route = self.routes[assignment.route]
        if assignment.probe:
            for key in (route.key, route.provider):
                if self.breakers[key].state is not breakers.BreakerState.CLOSED:
                    self.breakers[key] = breakers.begin_probe(self.breakers[key])
        flight = Flight(
            route=assignment.route,
            seconds=assignment.seconds,
            begun_at=(self.breakers[route.key].changes, self.breakers[route.provider].changes),
            probe=assignment.probe,
        )
        self.waiting.remove(assignment.page)
        self.flights[assignment.page] = flight
        return flight

    def succeeded(self, number: int, receipt: AttemptReceipt) -> None:
        """The page was read."""
        flight = self.flights.pop(number)
        route = self.routes[flight.route]
        self.answered.add(flight.route)
        self.crowds[flight.route] = Crowd()
        self._vendor_answered(flight, (route.key, route.provider))
        page = self.pages[number]
        page.attempts.append(
            Attempt(route=route.key, outcome="ok", milliseconds=receipt.milliseconds)
        )
        page.error = None
        local = route.provider == LOCAL_PROVIDER
        self._end(number, Source.OCR if local else Source.AI, route.key)

    def failed(self, number: int, failure: AttemptFailure, now: float) -> None:
        """The attempt failed: bar what the page must not try again, count what counts."""
        flight = self.flights.pop(number)
        route = self.routes[flight.route]
        meaning = MEANING[failure.kind]
        page = self.pages[number]
        page.attempts.append(
            Attempt(
                route=route.key,
                outcome=failure.kind.value,
                code=meaning.code,
                milliseconds=failure.milliseconds,
            )
        )
        page.error = PageError(
            error=failure.message, code=meaning.code, error_type=meaning.error_type
        )
        self._bar(page, flight.route, failure.kind)
        self._count(flight, failure, now)
        insort(self.waiting, number)

    def stood_aside(self, number: int, now: float, *, crowded: bool) -> None:
        """The attempt never called the vendor: its route was full, or had just failed."""
        flight = self.flights.pop(number)
        self._lose_probes(flight)
        crowd = self.crowds[flight.route]
        if crowd.until <= now:
            # After a stand-down the failure that caused it is about to arrive: a short rest.
            rest = min(CROWDED_FOR_S * 2.0**crowd.strikes, CROWDED_AT_MOST_S)
            self.crowds[flight.route] = (
                Crowd(until=now + rest, strikes=crowd.strikes + 1)
                if crowded
                else Crowd(until=now + STOOD_DOWN_FOR_S, strikes=crowd.strikes)
            )
        insort(self.waiting, number)

    def expire(self) -> None:
        """The deadline has passed: every page still open gets its MuPDF text."""
        for number in sorted({*self.waiting, *self.flights}):
            page = self.pages[number]
            flight = self.flights.get(number)
            if flight:
                page.attempts.append(
                    Attempt(
                        route=self.routes[flight.route].key,
                        outcome="DEADLINE",
                        code=Code.GW_TIMEOUT,
                    )
                )
            page.error = PageError(
                error="The document's deadline passed before this page was read.",
                code=Code.GW_TIMEOUT,
                error_type="retryable",
            )
            self._end(number, Source.MUPDF_TIMEOUT_FALLBACK)
        self.waiting.clear()
        self.flights.clear()

    def _end(self, number: int, source: Source, route: str | None = None) -> None:
        page = self.pages[number]
        error = page.error
        if source is Source.MUPDF_FALLBACK and error is None:
            error = PageError(error=self._why_none(), code=Code.GW_5XX, error_type="retryable")
        self.records[number] = PageRecord(
            page=number,
            source=source,
            route=route,
            attempts=tuple(page.attempts),
            error=error if source.degraded else None,
        )

    def _why_none(self) -> str:
        if not self.routes:
            return "No model is configured that could read this page."
        resting = sorted({b.reason for b in self.breakers.values() if b.reason})
        return f"Every route rests after failures ({', '.join(resting) or 'none left'})."

    # --- breakers ----------------------------------------------------------------------------

    def _bar(self, page: Page, index: int, kind: FailureKind) -> None:
        meaning = MEANING[kind]
        hit: Iterable[int] = [index]
        if meaning.bars == "every_route":
            hit = range(len(self.routes))
        elif meaning.bars == "provider":
            provider = self.routes[index].provider
            hit = [i for i, route in enumerate(self.routes) if route.provider == provider]
        for i in hit:
            if i not in page.barred:
                page.barred.append(i)
            if meaning.error_type == "terminal" and i not in page.barred_for_good:
                page.barred_for_good.append(i)

    def _count(self, flight: Flight, failure: AttemptFailure, now: float) -> None:
        route = self.routes[flight.route]
        meaning = MEANING[failure.kind]
        if failure.kind in (FailureKind.BUG, FailureKind.RENDER):
            self._lose_probes(flight)
            return
        hurried = failure.kind is FailureKind.TIMEOUT and not timeout_counts(
            flight.seconds, route.timeout_s
        )
        if meaning.trips is None or hurried:
            if hurried:
                self._lose_probes(flight)
            else:
                self._vendor_answered(flight, (route.key, route.provider))
            return
        key, begun_at = (
            (route.key, flight.begun_at[0])
            if meaning.trips == "route"
            else (route.provider, flight.begun_at[1])
        )
        self.breakers[key] = breakers.fail(
            self.breakers[key],
            begun_at,
            now,
            self.breaker_policy,
            reason=failure.kind.value,
            retry_after_s=failure.retry_after_s,
            long_rest=meaning.rests == "long",
        )
        if meaning.trips == "provider":
            self._lose_probe(route.key, flight.begun_at[0])
        elif failure.kind is FailureKind.TIMEOUT:
            self._lose_probe(route.provider, flight.begun_at[1])
        else:
            # The provider was reached and took the key: only this model is at fault.
            self._vendor_answered(flight, (route.provider,))

    def _vendor_answered(self, flight: Flight, keys: tuple[str, ...]) -> None:
        route = self.routes[flight.route]
        for key, begun_at in zip((route.key, route.provider), flight.begun_at, strict=True):
            if key in keys:
                self.breakers[key] = breakers.succeed(
                    self.breakers[key], begun_at, self.breaker_policy
                )

    def _lose_probes(self, flight: Flight) -> None:
        route = self.routes[flight.route]
        self._lose_probe(route.key, flight.begun_at[0])
        self._lose_probe(route.provider, flight.begun_at[1])

    def _lose_probe(self, key: str, begun_at: int) -> None:
        self.breakers[key] = breakers.lose_probe(self.breakers[key], begun_at)
