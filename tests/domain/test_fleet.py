"""A document learns from its answers how many workers there are, and uses the slots of all."""

import math

import pytest

from quire.contracts.page import Classification, TextSource
from quire.contracts.routing import BreakerPolicy, DispatchPolicy, Mode, Route
from quire.domain.document.attempts import OK
from tests.domain.simulator import Outcome, Simulation
from tests.domain.strategies import NOW
from workflows.document.dispatch import DispatchState
from workflows.document.fleet import ANSWERS_KEPT, Fleet

ROUTE = Route(provider="a", model="m", limit=8, ahead=8)


def document(pages: int, workers: int, *, window: int = 64, mode: Mode = "adaptive") -> Simulation:
    books = DispatchState(
        job_id="job",
        routes=(ROUTE,),
        dispatch=DispatchPolicy(mode=mode, window=window),
        breaker=BreakerPolicy(trip="first" if mode == "fail_fast" else "adaptive"),
        deadline=NOW + 600,
        vision=dict.fromkeys(range(1, pages + 1), Classification.SCANNED),
    )
    return Simulation(books, {0: [Outcome(OK, 2.0)]}, NOW, watch=_count, workers=workers)


def _count(simulation: Simulation) -> None:
    most = vars(simulation).setdefault("most", 0)
    vars(simulation)["most"] = max(most, len(simulation._running))


@pytest.mark.parametrize("mode", ["adaptive", "fail_fast", "hold"])
def test_one_document_uses_the_slots_of_all_workers(mode: Mode) -> None:
    simulation = document(400, 6, mode=mode).run()
    assert {r.source for r in simulation.books.records.values()} == {TextSource.AI}
    assert vars(simulation)["most"] == 48
    assert simulation.now - NOW <= math.ceil(400 / 48) * 2.0 + 2.0, "but for the wave that learns"


def test_one_worker_gets_no_more_than_it_can_draw_ahead() -> None:
    most: list[int] = []
    simulation = document(100, 1)
    simulation.watch = lambda s: most.append(s.books.flights.count)
    simulation.run()
    assert max(most) == 24
    assert simulation.now - NOW == math.ceil(100 / 8) * 2.0


def test_window_bounds_any_fleet() -> None:
    most: list[int] = []
    simulation = document(600, 40)
    simulation.watch = lambda s: most.append(s.books.flights.count)
    simulation.run()
    assert max(most) == 64


def test_many_workers_do_not_ask_for_a_selection_at_every_answer() -> None:
    """Answers that come one by one: a selection serves several of them."""
    outcomes = [Outcome(OK, 2.0 + place / 50) for place in range(48)]
    simulation = document(400, 6)
    simulation.script = {0: outcomes}
    simulation.run()
    assert len(simulation.selections) < 400 / 6


def test_workers_that_are_gone_are_forgotten() -> None:
    fleet = Fleet([ROUTE])
    for number in range(60):
        fleet.served(0, f"worker {number % 6}")
    assert fleet.workers(0) == 6
    for _ in range(ANSWERS_KEPT):
        fleet.served(0, "worker 1")
    assert fleet.workers(0) == 1


def test_workers_of_before_give_no_name_and_count_as_one() -> None:
    fleet = Fleet([ROUTE] * 2)
    fleet.served(0, "")
    assert (fleet.workers(0), fleet.is_wide, fleet.carried()) == (1, False, ())


def test_next_run_knows_the_workers() -> None:
    simulation = document(400, 6).run(drain_after=5)
    assert simulation.drained
    carried = simulation.books.carry()
    assert len(carried.workers[0]) == 6
    assert Fleet([ROUTE], carried.workers).workers(0) == 6
    assert Fleet([ROUTE] * 2, carried.workers).workers(0) == 1, "another chain: nothing is known"
