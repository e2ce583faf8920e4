"""What one document found dead, the next is told: it makes no call but for one probe a worker."""

from collections import Counter

import pytest

from quire.contracts.codes import FailureKind
from quire.contracts.page import Classification, TextSource
from quire.contracts.routing import Breaker, BreakerPolicy, BreakerState, DispatchPolicy, Mode
from quire.contracts.steps import AttemptRest
from quire.domain.document.attempts import OK
from quire.domain.routing.line import answer, learn, looks_dead
from quire.domain.routing.worker_memory import (
    FORGOTTEN_AFTER_S,
    LEASE_MARGIN_S,
    PROBE_EVERY_S,
    WorkerMemory,
)
from tests.domain.simulator import Outcome, Simulation
from tests.domain.strategies import NOW, failure
from tests.domain.vendors import ROUTES, AllDead, AllRefused, OneDead, OneHangs, Vendors
from workflows.document.dispatch import DispatchState
from workflows.document.flights import Flight

POLICY = BreakerPolicy(trip="adaptive")
ROUTE, SIBLING, OTHER = ROUTES


class Remembered(Simulation):
    """A document whose calls all pass the memory of one worker."""

    memory: WorkerMemory

    def told_to_rest(self, flight: Flight) -> AttemptRest | None:
        if not self.books.adaptive or flight.route in self.books.answered:
            return None
        return self.memory.rest_of(self.books.routes[flight.route], self.now)

    def call_begins(self, flight: Flight) -> None:
        route = self.books.routes[flight.route]
        begun_at = self.memory.begin_call(route, flight.seconds, self.now)
        self.tokens[flight.number] = begun_at

    @property
    def tokens(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = vars(self).setdefault("_tokens", {})
        return found

    def call_ended(self, flight: Flight, outcome: Outcome) -> None:
        route, begun_at = self.books.routes[flight.route], self.tokens[flight.number]
        if outcome.what == OK:
            self.memory.answered(route, begun_at, self.now)
            return
        failed = failure(FailureKind(outcome.what), outcome.retry_after_s)
        failed = failed.model_copy(update={"milliseconds": round(outcome.seconds * 1000)})
        self.memory.call_failed(route, begun_at, failed, flight.seconds, self.now)


def document(
    memory: WorkerMemory,
    vendor: Vendors,
    at: float = NOW,
    *,
    pages: int = 40,
    mode: Mode = "adaptive",
) -> Remembered:
    books = DispatchState(
        job_id=f"job {at}",
        routes=ROUTES,
        dispatch=DispatchPolicy(mode=mode),
        breaker=BreakerPolicy(trip="first" if mode == "fail_fast" else "adaptive"),
        deadline=at + 180,
        vision=dict.fromkeys(range(1, pages + 1), Classification.SCANNED),
    )
    simulation = Remembered(books, vendor, at)
    simulation.memory = memory
    simulation.run()
    return simulation


def sources(simulation: Simulation) -> dict[TextSource, int]:
    return dict(Counter(record.source for record in simulation.books.records.values()))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("vendor", [OneDead, OneHangs])
def test_second_document_calls_a_dead_vendor_once_at_most(vendor: type[Vendors], seed: int) -> None:
    memory = WorkerMemory(POLICY)
    first = document(memory, vendor(seed), pages=8)
    assert first.calls[0] + first.calls[1] > 1
    second = document(memory, vendor(seed + 100), first.now + 1, pages=8)
    assert second.calls[0] + second.calls[1] <= 1
    assert sources(second) == {TextSource.AI: 8}
    for record in second.books.records.values():
        called = [note for note in record.attempts if note.outcome != OK]
        assert len(called) <= 1, "an attempt that made no call is none"


def test_no_probe_follows_another_at_once() -> None:
    memory = WorkerMemory(POLICY)
    first = document(memory, AllDead(1))
    second = document(memory, AllDead(2), first.now + 0.5)
    assert sum(second.calls.values()) == 0, "it was tried half a second ago"
    assert sources(second) == {TextSource.MUPDF_FALLBACK: 40}
    assert second.now - first.now < 1
    third = document(memory, AllDead(3), second.now + PROBE_EVERY_S)
    assert sum(third.calls.values()) <= 2, "one for each provider"
    assert sources(third) == {TextSource.MUPDF_FALLBACK: 40}


@pytest.mark.parametrize("pages", [1, 3, 40])
def test_vendors_that_came_back_are_found_by_the_probe(pages: int) -> None:
    """All were dead five seconds ago and are well: every page waits for the probe and is read."""
    memory = WorkerMemory(POLICY)
    first = document(memory, AllDead(1))
    second = document(memory, Vendors(2), first.now + PROBE_EVERY_S, pages=pages)
    assert sources(second) == {TextSource.AI: pages}


def test_vendor_that_asks_for_a_pace_is_never_remembered() -> None:
    memory = WorkerMemory(POLICY)
    first = document(memory, AllRefused(1))
    assert memory.rest_of(ROUTE, first.now) is None
    second = document(memory, Vendors(2), first.now + 0.1)
    assert sources(second) == {TextSource.AI: 40}


def test_document_with_an_answer_of_its_own_knows_better() -> None:
    told = AttemptRest(reason="SERVER", rest_s=30.0, failing_s=5.0)
    answered = answer(Breaker(), 0, NOW + 2, 2)
    assert learn(answered, 0, NOW + 1, NOW + 3, told) == answered


def test_fail_fast_does_not_ask() -> None:
    memory = WorkerMemory(POLICY)
    first = document(memory, OneDead(1))
    second = document(memory, OneDead(2), first.now + 0.1, mode="fail_fast")
    assert second.calls[0] > 0
    assert sources(second) == {TextSource.AI: 40}


def test_held_pages_wait_for_the_end_of_a_rest_that_others_brought() -> None:
    memory = WorkerMemory(POLICY)
    first = document(memory, AllDead(1))
    second = document(memory, Vendors(2), first.now + 0.1, mode="hold")
    assert sources(second) == {TextSource.AI: 40}


# --- the memory itself -----------------------------------------------------------------------


def dies(memory: WorkerMemory, kind: FailureKind = FailureKind.SERVER) -> float:
    """Three failures, each after its rest; returns when the last was."""
    now = NOW
    for _ in range(3):
        begun_at = memory.begin_call(ROUTE, 60.0, now)
        memory.call_failed(ROUTE, begun_at, failure(kind), 60.0, now)
        now = max(line.retry_at for line in memory.of(ROUTE)) if _ < 2 else now
    return now


def test_three_failures_in_a_row_are_remembered_with_their_reason_and_age() -> None:
    memory = WorkerMemory(POLICY)
    now = dies(memory)
    told = memory.rest_of(ROUTE, now + 2)
    assert told is not None
    assert (told.reason, told.of_provider) == ("SERVER", False)
    assert told.rest_s == pytest.approx(28, abs=0.1)
    assert told.failing_s == pytest.approx(now + 2 - NOW)
    assert memory.rest_of(SIBLING, now + 2) is None
    assert memory.rest_of(OTHER, now + 2) is None


def test_herd_that_fails_together_is_one_strike() -> None:
    memory = WorkerMemory(POLICY)
    begun = [memory.begin_call(ROUTE, 60.0, NOW) for _ in range(8)]
    for begun_at in begun:
        memory.call_failed(ROUTE, begun_at, failure(FailureKind.SERVER), 60.0, NOW)
    assert memory.rest_of(ROUTE, NOW) is None


def test_other_documents_calls_during_a_rest_are_no_strikes() -> None:
    memory = WorkerMemory(POLICY)
    for step in range(6):
        now = NOW + step / 50
        begun_at = memory.begin_call(ROUTE, 60.0, now)
        memory.call_failed(ROUTE, begun_at, failure(FailureKind.SERVER), 60.0, now)
    assert memory.rest_of(ROUTE, now) is None


@pytest.mark.parametrize("kind", [FailureKind.AUTH, FailureKind.QUOTA])
def test_refused_key_is_remembered_for_the_whole_provider(kind: FailureKind) -> None:
    memory = WorkerMemory(POLICY)
    begun_at = memory.begin_call(ROUTE, 60.0, NOW)
    memory.call_failed(ROUTE, begun_at, failure(kind), 60.0, NOW)
    told = memory.rest_of(SIBLING, NOW + 1)
    assert told is not None
    assert told.of_provider
    assert memory.rest_of(SIBLING, NOW + PROBE_EVERY_S) is None, "a key may be mended any time"


def test_nobody_waits_a_whole_timeout_for_what_looks_dead() -> None:
    memory = WorkerMemory(POLICY)
    assert memory.seconds_of(ROUTE, 60.0, NOW) == 60.0
    now = dies(memory)
    assert memory.seconds_of(ROUTE, 60.0, now) == 20.0
    slow = ROUTE.model_copy(update={"timeout_s": 300.0})
    assert memory.seconds_of(slow, 300.0, now) == 100.0


def test_one_probe_at_a_time_for_all_routes_of_a_provider() -> None:
    memory = WorkerMemory(POLICY)
    begun_at = memory.begin_call(ROUTE, 60.0, NOW)
    memory.call_failed(ROUTE, begun_at, failure(FailureKind.AUTH), 60.0, NOW)
    now = NOW + PROBE_EVERY_S
    assert memory.rest_of(ROUTE, now) is None
    memory.begin_call(ROUTE, 20.0, now)
    assert memory.rest_of(ROUTE, now) is not None
    assert memory.rest_of(SIBLING, now) is not None


def test_probe_that_is_answered_clears_the_line() -> None:
    memory = WorkerMemory(POLICY)
    now = dies(memory) + PROBE_EVERY_S
    memory.answered(ROUTE, memory.begin_call(ROUTE, 60.0, now), now + 1)
    assert memory.rest_of(ROUTE, now + 1) is None
    memory.begin_call(ROUTE, 60.0, now + 1)
    assert memory.rest_of(ROUTE, now + 1) is None


def test_probe_that_fails_leaves_no_room_for_the_next_at_once() -> None:
    memory = WorkerMemory(POLICY)
    now = dies(memory) + PROBE_EVERY_S
    begun_at = memory.begin_call(ROUTE, 60.0, now)
    memory.call_failed(ROUTE, begun_at, failure(FailureKind.SERVER), 60.0, now)
    told = memory.rest_of(ROUTE, now + PROBE_EVERY_S - 0.1)
    assert told is not None
    assert told.rest_s > 30, "rests grow"


def test_lost_probe_frees_the_lease_and_a_silent_one_lets_it_expire() -> None:
    memory = WorkerMemory(POLICY)
    now = dies(memory) + PROBE_EVERY_S
    begun_at = memory.begin_call(ROUTE, 20.0, now)
    assert memory.rest_of(ROUTE, now + 1) is not None
    memory.call_lost(ROUTE, begun_at)
    assert memory.rest_of(ROUTE, now + 1) is None
    memory.begin_call(ROUTE, 20.0, now + 1)
    assert memory.rest_of(ROUTE, now + 20) is not None
    assert memory.rest_of(ROUTE, now + 21 + LEASE_MARGIN_S) is None


def test_what_nobody_tried_for_long_is_forgotten() -> None:
    memory = WorkerMemory(POLICY)
    now = dies(memory)
    memory._leases["openai"] = now + 9999
    assert memory.rest_of(ROUTE, now + 30 + FORGOTTEN_AFTER_S - 1) is not None
    assert memory.rest_of(ROUTE, now + 31 + FORGOTTEN_AFTER_S) is None


# --- what a document makes of it -------------------------------------------------------------

TOLD = AttemptRest(reason="SERVER", rest_s=30.0, failing_s=5.0)


def test_line_that_is_told_of_rests_and_looks_dead_since_then() -> None:
    line = learn(Breaker(), 0, NOW, NOW, TOLD)
    assert line.state is BreakerState.OPEN
    assert (line.retry_at, line.since, line.reason) == (NOW + 30, NOW - 5, "SERVER")
    assert looks_dead(line, NOW)


def test_answer_of_the_one_call_that_was_let_through_opens_the_line() -> None:
    line = answer(learn(Breaker(), 0, NOW, NOW, TOLD), 0, NOW + 1, 2)
    assert line.state is BreakerState.CLOSED
    assert not looks_dead(line, NOW + 100)


def test_probe_of_this_document_is_not_disturbed_by_what_others_were_told() -> None:
    probed = Breaker(state=BreakerState.HALF_OPEN, changes=3, streak=1, sort="sick")
    assert learn(probed, 2, NOW, NOW, TOLD) == probed
    ended = learn(probed, 3, NOW, NOW, TOLD)
    assert (ended.state, ended.changes) == (BreakerState.OPEN, 4)


def test_rest_is_never_shortened_by_what_others_were_told() -> None:
    line = Breaker(state=BreakerState.OPEN, retry_at=NOW + 300, streak=1, sort="sick")
    assert learn(line, 0, NOW, NOW, TOLD).retry_at == NOW + 300
