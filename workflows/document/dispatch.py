"""The bookkeeping of one document's pages: what is waiting, under way and done.

The workflow tells it what happened and when; it answers with snapshots for the selection and
with the records of finished pages. It holds no clock and never waits.
"""

from bisect import insort
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from quire.contracts.carried import CarriedDispatch, CarriedPage
from quire.contracts.codes import FailureKind
from quire.contracts.money import NOTHING
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import AttemptNote, Classification, PageError, PageRecord, TextSource
from quire.contracts.routing import (
    Assignment,
    Breaker,
    BreakerPolicy,
    DispatchPolicy,
    Route,
    RouteView,
    Selection,
    Snapshot,
)
from quire.contracts.steps import AttemptFailure, AttemptReceipt
from quire.domain.document.attempts import OK
from quire.domain.errors import MEANING
from quire.domain.routing.health import BegunAt, Health
from workflows.document.page_state import Page

# A selection looks at the pages that could start now and a few more; the rest can wait unseen.
PAGES_IN_VIEW = 64  # of each sort
# How long a route that other documents keep full is left alone, doubling while it stays so.
CROWDED_FOR_S = 2.0
CROWDED_AT_MOST_S = 60.0
STOOD_DOWN_FOR_S = 0.25


@dataclass
class Flight:
    """One attempt under way."""

    route: int
    seconds: float
    begun_at: BegunAt
    take: int = 0


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
        carried: CarriedDispatch = CarriedDispatch(),  # noqa: B008 (it is frozen)
    ) -> None:
        self.job_id = job_id
        self.routes = routes
        self.policy = dispatch
        self.deadline = deadline
        self.pages = {n: Page(n, vision[n]) for n in sorted(vision)}
        self.waiting: list[int] = sorted(vision)
        self.flights: dict[int, Flight] = {}
        self.records: dict[int, PageRecord] = {}
        self.health = Health(routes, breaker)
        self.health.breakers.update(carried.breakers)
        self.answered = set(carried.answered)
        # An attempt ended without an answer: its page may have to go elsewhere at once.
        self.disturbed = False
        self.crowds = [Crowd() for _ in routes]
        for page in carried.pages:
            self.pages[page.page] = Page.from_carried(page, vision[page.page])

    def add(self, vision: Mapping[int, Classification]) -> None:
        """More pages that need a model have been found."""
        for number in sorted(vision):
            self.pages[number] = Page(number, vision[number])
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
        return not self.waiting and not self.flights

    def wants_selection(self) -> bool:
        """Could a selection change anything? Keeps idle ones out of the history.

        While pages are queued behind every slot, the next look can wait until one of these
        queues is used up.
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

    def _in_view(self, now: float) -> list[Page]:
        """The first pages of each sort that may start now, and the one that may start next.

        A sort is what a page may try: pages that wait for one route must not hide others.
        """
        seen: Counter[tuple[object, ...]] = Counter()
        ready, later = list[Page](), list[Page]()
        for page in (self.pages[number] for number in self.waiting):
            sort = (page.classification, *sorted(page.barred))
            if page.not_before > now:
                later.append(page)
            elif seen[sort] < PAGES_IN_VIEW:
                ready.append(page)
                seen[sort] += 1
        return ready + sorted(later, key=lambda page: (page.not_before, page.page))[:1]

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
        return sum(1 for flight in self.flights.values() if flight.route == route)

    def _load(self) -> list[int]:
        load = [0] * len(self.routes)
        for flight in self.flights.values():
            load[flight.route] += 1
        return load

    # --- what happened -----------------------------------------------------------------------

    def apply(self, selection: Selection) -> list[tuple[Assignment, Flight]]:
        """Carry a selection out in the books; returns the attempts to start."""
        self.disturbed = False
        started = [(assignment, self._begin(assignment)) for assignment in selection.assign]
        for number in selection.fall_back:
            self.waiting.remove(number)
            self._end(number, TextSource.MUPDF_FALLBACK)
        for deferral in selection.defer:
            page = self.pages[deferral.page]
            page.take_another_round(deferral.not_before)
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

    def succeeded(self, number: int, receipt: AttemptReceipt) -> None:
        """The page was read."""
        flight = self.flights.pop(number)
        route = self.routes[flight.route]
        if receipt.stored:
            # The answer was in the store: that says nothing of the vendor's health today.
            self.health.lost(route, flight.begun_at)
        else:
            self.answered.add(flight.route)
            self.crowds[flight.route] = Crowd()
            self.health.answered(route, flight.begun_at)
        page = self.pages[number]
        page.attempts.append(AttemptNote(flight.route, OK, receipt.milliseconds))
        page.error = None
        page.paid, page.wasted = receipt.paid, page.wasted.plus(receipt.wasted)
        source = TextSource.OCR if route.provider == LOCAL_PROVIDER else TextSource.AI
        self._end(number, source, reused=receipt.reused)

    def failed(self, number: int, failure: AttemptFailure, now: float) -> None:
        """The attempt failed: bar what the page must not try again, count what counts."""
        flight = self.flights.pop(number)
        route = self.routes[flight.route]
        meaning = MEANING[failure.kind]
        page = self.pages[number]
        page.attempts.append(AttemptNote(flight.route, failure.kind.value, failure.milliseconds))
        page.error = PageError(
            error=failure.message, code=meaning.code, error_type=meaning.error_type
        )
        page.wasted = page.wasted.plus(failure.wasted)
        self.disturbed = True
        page.bar(
            self._hit_by(flight.route, failure.kind), for_good=meaning.error_type == "terminal"
        )
        self.health.failed(route, flight.begun_at, failure, flight.seconds, now)
        insort(self.waiting, number)

    def stood_aside(self, number: int, now: float, *, crowded: bool) -> None:
        """The attempt never called the vendor: its route was full, or had just failed."""
        flight = self.flights.pop(number)
        self.disturbed = True
        self.health.lost(self.routes[flight.route], flight.begun_at)
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

    def read_again(self, record: PageRecord, classification: Classification, now: float) -> None:
        """A person wants this page read again: it waits as if new, and every route may probe.

        A page that was read before gets a take of its own, or the store would answer for it.
        """
        number, good = record.page, record.read_by is not None
        self.records.pop(number, None)
        before = self.pages.get(number)
        self.pages[number] = Page(
            page=number,
            classification=classification,
            attempts=list(record.attempts),
            past=len(record.attempts),
            take=record.take + 1 if good else record.take,
            earlier=record if good else None,
            wasted=record.wasted,
            paid_before=before.paid if before else NOTHING,
        )
        self.health.allow_probes(now)
        insort(self.waiting, number)

    def stop(self, source: TextSource, outcome: str, error: PageError) -> None:
        """Every page still open gets its MuPDF text, for this reason."""
        for number in sorted({*self.waiting, *self.flights}):
            page = self.pages[number]
            flight = self.flights.get(number)
            if flight:
                page.attempts.append(AttemptNote(flight.route, outcome))
            page.error = error
            self._end(number, source)
        self.waiting.clear()
        self.flights.clear()

    def _end(self, number: int, source: TextSource, *, reused: bool = False) -> None:
        page = self.pages[number]
        error = page.error
        if source.degraded and page.earlier is not None:
            self.records[number] = page.earlier.model_copy(update={"wasted": page.wasted})
            return
        if source is TextSource.MUPDF_FALLBACK and error is None:
            error = self.health.why_no_route()
        self.records[number] = PageRecord(
            page=number,
            source=source,
            attempts=tuple(page.attempts),
            error=error if source.degraded else None,
            take=page.take,
            reused=reused,
            wasted=page.wasted.plus(page.paid_before),
        )

    def _hit_by(self, index: int, kind: FailureKind) -> list[int]:
        """The routes that such a failure on this one keeps the page away from."""
        bars = MEANING[kind].bars
        if bars == "route":
            return [index]
        if bars == "every_route":
            return list(range(len(self.routes)))
        provider = self.routes[index].provider
        return [i for i, route in enumerate(self.routes) if route.provider == provider]
