"""The pages that need a model: which wait, which are in flight, which have ended.

It takes in what happened and when, and gives snapshots for the selection and the records of ended
pages. It holds no clock and never waits.
"""

from bisect import insort
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from quire.contracts.carried import CarriedDispatch, CarriedPage
from quire.contracts.codes import FailureKind
from quire.contracts.money import NOTHING
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import Classification, PageError, PageRecord, TextSource
from quire.contracts.routing import Breaker, BreakerPolicy, DispatchPolicy, Route
from quire.contracts.selection import Assignment, RouteView, Selection, Snapshot
from quire.contracts.steps import AttemptFailure, AttemptReceipt
from quire.domain.errors import MEANING
from quire.domain.routing.health import BegunAt, Health
from workflows.document.crowd import Crowd
from workflows.document.page_state import PageState

# A selection looks at the pages that could start now and a few more; the rest can wait unseen.
PAGES_IN_VIEW = 64  # of each sort


@dataclass(frozen=True)
class Flight:
    """One attempt under way."""

    route: int
    seconds: float
    begun_at: BegunAt
    take: int = 0


class DispatchState:
    """Every page enters waiting, and ends exactly once, as one record.

    Written by `Dispatcher`, for each selection and each attempt's end, and by `ChosenPages`,
    which brings pages in and stops them.
    """

    def __init__(
        self,
        *,
        job_id: str,
        routes: tuple[Route, ...],
        dispatch: DispatchPolicy,
        breaker: BreakerPolicy,
        deadline: float,
        vision: Mapping[int, Classification],
        carried: CarriedDispatch = CarriedDispatch(),  # noqa: B008 (it is frozen)
    ) -> None:
        self.job_id = job_id
        self.routes = routes
        self.policy = dispatch
        self.deadline = deadline
        self.pages = {n: PageState(n, vision[n]) for n in sorted(vision)}
        self.waiting: list[int] = sorted(vision)
        self.flights: dict[int, Flight] = {}
        self.records: dict[int, PageRecord] = {}
        self.health = Health(routes, breaker)
        self.health.take_up(carried.breakers)
        self.answered = set(carried.answered)
        # An attempt ended without an answer: its page may have to go elsewhere at once.
        self.disturbed = False
        self.crowds = [Crowd() for _ in routes]
        for page in carried.pages:
            self.pages[page.page] = PageState.from_carried(page, vision[page.page])

    def add(self, vision: Mapping[int, Classification]) -> None:
        """More pages that need a model have been found."""
        for number in sorted(vision):
            self.pages[number] = PageState(number, vision[number])
            insort(self.waiting, number)

    def carry(self) -> CarriedDispatch:
        """What a next run needs to go on from here; nothing may be in flight."""
        return CarriedDispatch(
            pages=tuple(
                carried
                for carried in (self.pages[n].carried() for n in self.waiting)
                if carried != CarriedPage(page=carried.page)
            ),
            breakers={k: b for k, b in sorted(self.health.breakers.items()) if b != Breaker()},
            answered=tuple(sorted(self.answered)),
        )

    # --- what the selection sees -------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """No page waits or is in flight."""
        return not self.waiting and not self.flights

    def wants_selection(self) -> bool:
        """Could a selection change anything? One that could not would only lengthen history.

        While pages are queued behind every slot, the next selection can wait until one of these
        queues is empty.
        """
        if not self.waiting or len(self.flights) >= self.policy.window:
            return False
        if self.disturbed or not self.flights:
            return True
        load = self._load()
        for index, route in enumerate(self.routes):
            if route.is_last_resort:
                continue
            well = self.health.is_well(route)
            queue = 1 + route.ahead if well and index in self.answered else 0
            if load[index] < route.limit + queue:
                return True
            if well and self.policy.when_busy == "wait":
                return False
        return False

    def _in_view(self, now: float) -> list[PageState]:
        """The first pages of each sort that may start now, and the one that may start next.

        A sort is what a page may try: pages that wait for one route must not hide others.
        """
        seen: Counter[tuple[object, ...]] = Counter()
        ready, later = list[PageState](), list[PageState]()
        for page in (self.pages[number] for number in self.waiting):
            sort = (page.classification, *sorted(page.barred))
            if page.not_before > now:
                later.append(page)
            elif seen[sort] < PAGES_IN_VIEW:
                ready.append(page)
                seen[sort] += 1
        return ready + sorted(later, key=lambda page: (page.not_before, page.page))[:1]

    def snapshot(self, now: float) -> Snapshot:
        """All that a selection looks at."""
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
                    breaker=self.health.of(route)[0],
                    provider_breaker=self.health.of(route)[1],
                    in_flight=load[index],
                    crowded_until=self.crowds[index].until,
                    answered=index in self.answered,
                )
                for index, route in enumerate(self.routes)
            ),
            pages=tuple(page.view() for page in self._in_view(now)),
        )

    def in_flight_on(self, route: int) -> int:
        """How many attempts are under way on the route at this place of the chain."""
        return sum(1 for flight in self.flights.values() if flight.route == route)

    def _load(self) -> list[int]:
        load = [0] * len(self.routes)
        for flight in self.flights.values():
            load[flight.route] += 1
        return load

    # --- what happened -----------------------------------------------------------------------

    def apply(self, selection: Selection) -> list[tuple[Assignment, Flight]]:
        """Carry a selection out; returns the attempts to start."""
        self.disturbed = False
        started = [(assignment, self._begin(assignment)) for assignment in selection.assign]
        for number in selection.fall_back:
            self.waiting.remove(number)
            self._end(number, TextSource.MUPDF_FALLBACK)
        for deferral in selection.defer:
            self.pages[deferral.page].take_another_round(deferral.not_before)
        return started

    def _begin(self, assignment: Assignment) -> Flight:
        route = self.routes[assignment.route]
        flight = Flight(
            route=assignment.route,
            seconds=assignment.seconds,
            begun_at=self.health.begin(route, probe=assignment.how == "probe"),
            take=self.pages[assignment.page].take,
        )
        self.waiting.remove(assignment.page)
        self.flights[assignment.page] = flight
        return flight

    def succeeded(self, number: int, receipt: AttemptReceipt, now: float) -> None:
        """The page was read."""
        flight = self.flights.pop(number)
        route = self.routes[flight.route]
        if receipt.stored:
            # The answer was in the store: that says nothing of the vendor's health today.
            self.health.lost(route, flight.begun_at)
        else:
            self.answered.add(flight.route)
            self.crowds[flight.route] = Crowd()
            self.health.answered(route, flight.begun_at, now)
        self.pages[number].read(flight.route, receipt)
        source = TextSource.OCR if route.provider == LOCAL_PROVIDER else TextSource.AI
        self._end(number, source, reused=receipt.reused)

    def failed(self, number: int, failure: AttemptFailure, now: float) -> None:
        """The attempt failed: bar what the page must not try again, count what counts."""
        flight = self.flights.pop(number)
        route = self.routes[flight.route]
        self.disturbed = True
        barred = self._hit_by(flight.route, failure.kind)
        self.pages[number].failed(flight.route, failure, barred)
        self.health.failed(route, flight.begun_at, failure, flight.seconds, now)
        insort(self.waiting, number)

    def stood_aside(self, number: int, now: float, *, crowded: bool) -> None:
        """The attempt never called the vendor: its route was full, or had just failed."""
        flight = self.flights.pop(number)
        self.disturbed = True
        self.health.lost(self.routes[flight.route], flight.begun_at)
        crowd = self.crowds[flight.route]
        self.crowds[flight.route] = crowd.after_refusal(now, crowded=crowded)
        insort(self.waiting, number)

    def withdraw(self, number: int) -> None:
        """A waiting page no longer waits: it comes back in another form."""
        self.waiting.remove(number)

    def read_again(self, record: PageRecord, classification: Classification, now: float) -> None:
        """A person wants this page read again: it waits as if new, and every route may probe."""
        self.records.pop(record.page, None)
        before = self.pages.get(record.page)
        paid_before = before.paid if before else NOTHING
        self.pages[record.page] = PageState.to_read_again(record, classification, paid_before)
        if before is not None:
            self.pages[record.page].last_attempt = before.last_attempt
        self.health.allow_probes(now)
        insort(self.waiting, record.page)

    def note_attempt(self, number: int, now: float) -> None:
        """An attempt at the page begins, or came to its end, whatever the end was."""
        self.pages[number].last_attempt = now

    def stop(self, source: TextSource, outcome: str, error: PageError) -> None:
        """Every page still open gets its MuPDF text, for this reason."""
        for number in sorted({*self.waiting, *self.flights}):
            flight = self.flights.get(number)
            self.pages[number].stopped(flight.route if flight else None, outcome, error)
            self._end(number, source)
        self.waiting.clear()
        self.flights.clear()

    def _end(self, number: int, source: TextSource, *, reused: bool = False) -> None:
        page = self.pages[number]
        error = page.error
        if source is TextSource.MUPDF_FALLBACK and error is None:
            error = self.health.why_no_route()
        self.records[number] = page.record(source, error, reused=reused)

    def _hit_by(self, index: int, kind: FailureKind) -> list[int]:
        """The routes that such a failure on this one keeps the page away from."""
        bars = MEANING[kind].bars
        if bars == "route":
            return [index]
        if bars == "every_route":
            return list(range(len(self.routes)))
        provider = self.routes[index].provider
        return [i for i, route in enumerate(self.routes) if route.provider == provider]
