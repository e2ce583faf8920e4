"""The pages that need a model: which wait, which are in flight, which have ended.

It takes in what happened and when, and gives snapshots for the selection and the records of ended
pages. It holds no clock and never waits.
"""

from bisect import insort
from collections.abc import Mapping

from quire.contracts.carried import CarriedDispatch, CarriedPage
from quire.contracts.money import NOTHING
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import Classification, PageError, PageRecord, TextSource
from quire.contracts.routing import Breaker, BreakerPolicy, DispatchPolicy, Route
from quire.contracts.selection import Assignment, Selection, Snapshot
from quire.contracts.steps import AttemptFailure, AttemptReceipt, AttemptRest
from quire.domain.routing.adaptive_health import health_of
from quire.domain.routing.health import Call, barred_by
from quire.domain.routing.line import sort_of
from workflows.document.answer_times import AnswerTimes
from workflows.document.crowd import Crowd
from workflows.document.fleet import Fleet
from workflows.document.flights import Flight, Flights
from workflows.document.page_state import PageState
from workflows.document.snapshot import take_snapshot


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
        self.flights = Flights()
        self.records: dict[int, PageRecord] = {}
        self.adaptive = breaker.trip == "adaptive"
        self.health = health_of(routes, breaker, job_id)
        self.health.take_up(carried.breakers)
        self.answered = set(carried.answered)
        self.times = AnswerTimes(len(routes), carried)
        self.fleet = Fleet(routes, carried.workers)
        self._begun = 0
        # When the last page was read.
        self.read_at = 0.0
        # An attempt ended without an answer: its page may have to go elsewhere at once.
        self.disturbed = False
        self.crowds = [Crowd() for _ in routes]
        for page in carried.pages:
            self.pages[page.page] = PageState.from_carried(page, vision[page.page])
        self.waiting: list[int] = sorted(vision, key=self._turn)

    def add(self, vision: Mapping[int, Classification]) -> None:
        """More pages that need a model have been found."""
        for number in sorted(vision):
            self.pages[number] = PageState(number, vision[number])
            self._wait(number)

    def _wait(self, number: int) -> None:
        insort(self.waiting, number, key=self._turn)

    def _turn(self, number: int) -> tuple[float, int]:
        """Pages wait in their order. Under the adaptive rule one that failed goes to the back: as
        the first it would be the probe of every sick route."""
        return self.pages[number].back_since, number

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
            latencies=self.times.carried() if self.adaptive else (),
            hedged=self.times.hedged,
            workers=self.fleet.carried(),
            ended=self.times.ended_before + len(self.records) if self.adaptive else 0,
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
        room = self.policy.window - self.flights.count
        if room <= 0:
            return False
        if not self.waiting:
            return self.times.may_hedge_now
        if self.disturbed or not self.flights:
            return True
        if self.fleet.waits_for_room(room, self.policy.window):
            return False
        load = self.flights.load()
        for index, route in enumerate(self.routes):
            if route.is_last_resort:
                continue
            well = self.health.is_well(route)
            queue = 1 + self.fleet.ahead(index) if well and index in self.answered else 0
            if load[index] < self.fleet.limit(index) + queue:
                return True
            if well and self.policy.when_busy == "wait":
                return False
        return False

    def snapshot(self, now: float) -> Snapshot:
        """All that a selection looks at."""
        return take_snapshot(self, now)

    def in_flight_on(self, route: int) -> int:
        """How many attempts are under way on the route at this place of the chain."""
        return self.flights.load()[route]

    # --- what happened -----------------------------------------------------------------------

    def apply(self, selection: Selection, now: float = 0.0) -> list[tuple[Assignment, Flight]]:
        """Carry a selection out; returns the attempts to start."""
        self.disturbed = False
        self.times.selected(hedge_due=selection.hedge_due)
        started = [(assignment, self._begin(assignment, now)) for assignment in selection.assign]
        for number in selection.fall_back:
            self.waiting.remove(number)
            self._end(number, TextSource.MUPDF_FALLBACK)
        for deferral in selection.defer:
            self.pages[deferral.page].take_another_round(deferral.not_before)
        return started

    def new_rounds(self, selection: Selection) -> int:
        """How many pages this selection gives to a route that has failed them before."""
        return sum(1 for a in selection.assign if a.route in self.pages[a.page].barred)

    def _begin(self, assignment: Assignment, now: float) -> Flight:
        page = self.pages[assignment.page]
        self._begun += 1
        flight = Flight(
            route=assignment.route,
            seconds=assignment.seconds,
            begun_at=self.health.begin(
                self.routes[assignment.route], probe=assignment.how == "probe"
            ),
            take=page.take,
            since=now,
            number=self._begun,
            probe=assignment.how == "probe",
            queued=assignment.how == "behind",
        )
        if assignment.how == "hedge":
            self.flights.hedges[page.page] = flight
            self.times.hedged += 1
            return flight
        if assignment.route in page.barred:
            # Every route had failed it: the selection has begun its next round.
            page.take_another_round(page.not_before)
        self.waiting.remove(page.page)
        self.flights[page.page] = flight
        return flight

    def succeeded(
        self, number: int, receipt: AttemptReceipt, now: float, attempt: int | None = None
    ) -> Flight | None:
        """The page was read. Returns the other attempt at it, which is to be called off."""
        self.read_at = now
        flight, other = self.flights.land(number, attempt, now), self.flights.pop(number, None)
        route = self.routes[flight.route]
        if receipt.stored:
            # The answer was in the store: that says nothing of the vendor's health today.
            self.health.lost(route, flight.begun_at)
        else:
            self.answered.add(flight.route)
            self.crowds[flight.route] = Crowd()
            self.fleet.served(flight.route, receipt.worker)
            limit = self.fleet.limit(flight.route)
            self.health.answered(route, flight.begun_at, now, receipt.pause_s, limit)
            self.times.answered(flight.route, receipt.milliseconds)
        if other is not None:
            self.health.lost(self.routes[other.route], other.begun_at)
            self.pages[number].called_off(other.route)
        read_by = flight.route if receipt.read_by is None else receipt.read_by
        self.pages[number].read(read_by, receipt)
        self._end(number, _source_of(self.routes[read_by]), reused=receipt.reused)
        return other

    def read_twice(self, number: int, receipt: AttemptReceipt, route: int) -> bool:
        """Whether another answer is paid for and not used: it may be the first one, found."""
        record = self.records.get(number)
        if record and record.read_by == (route if receipt.read_by is None else receipt.read_by):
            return False
        if record:
            wasted = record.wasted.plus(receipt.paid).plus(receipt.wasted)
            self.records[number] = record.model_copy(update={"wasted": wasted})
        return True

    def failed(
        self, number: int, failure: AttemptFailure, now: float, attempt: int | None = None
    ) -> None:
        """The attempt failed: bar what the page must not try again, count what counts."""
        flight = self.flights.land(number, attempt, now)
        route, page = self.routes[flight.route], self.pages[number]
        self.disturbed = True
        paced = self.adaptive and sort_of(failure) == "pace"
        barred = () if paced else barred_by(self.routes, flight.route, failure.kind)
        page.failed(flight.route, failure, barred)
        if self.adaptive and not paced:
            # It may be the page's fault where its route served others, and this was no probe.
            well = not flight.probe and self.health.serves_others(route, failure.kind)
            page.count_strikes(flight.route, failure, well=well)
            page.back_since = now
        call = Call(chosen_at=flight.since, left=self.flights.calls(flight.route))
        self.health.failed(route, flight.begun_at, failure, flight.seconds, now, call)
        self._wait_unless_under_way(number)

    def _wait_unless_under_way(self, number: int) -> None:
        """A page that was asked of two routes may still be read by the other."""
        if number not in self.flights:
            self._wait(number)

    def stood_aside(
        self, number: int, now: float, *, crowded: bool, attempt: int | None = None
    ) -> None:
        """The attempt never called the vendor: its route was full, or had just failed."""
        flight = self.flights.land(number, attempt, now)
        self.disturbed = True
        self.health.lost(self.routes[flight.route], flight.begun_at)
        crowd = self.crowds[flight.route]
        self.crowds[flight.route] = crowd.after_refusal(now, crowded=crowded)
        self._wait_unless_under_way(number)

    def rested(self, number: int, told: AttemptRest, now: float, attempt: int | None) -> None:
        """The attempt never called the vendor, which looks dead to its worker: that is no fault
        of the page's."""
        flight = self.flights.land(number, attempt, now)
        self.disturbed = True
        route = self.routes[flight.route]
        self.health.rested(route, flight.begun_at, flight.since, now, told)
        self._wait_unless_under_way(number)

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
        self._wait(record.page)

    def note_attempt(self, number: int, now: float) -> None:
        """An attempt at the page begins, or came to its end, whatever the end was."""
        self.pages[number].last_attempt = now

    def stop(self, source: TextSource, outcome: str, error: PageError) -> None:
        """Every page still open gets its MuPDF text, for this reason."""
        for number in sorted({*self.waiting, *self.flights}):
            flight, hedge = self.flights.get(number), self.flights.hedges.get(number)
            if hedge is not None:
                self.pages[number].called_off(hedge.route)
            self.pages[number].stopped(flight.route if flight else None, outcome, error)
            self._end(number, source)
        self.waiting.clear()
        self.flights.clear()

    def _end(self, number: int, source: TextSource, *, reused: bool = False) -> None:
        page = self.pages[number]
        error = page.error or (self.health.why_no_route() if source.degraded else None)
        self.records[number] = page.record(source, error, reused=reused)


def _source_of(route: Route) -> TextSource:
    if route.provider != LOCAL_PROVIDER:
        return TextSource.AI
    return TextSource.OCR_FALLBACK if route.degrades else TextSource.OCR
