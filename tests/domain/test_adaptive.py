"""The adaptive rule on whole documents: what it promises, and each trap that was met on the way."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from quire.contracts.codes import FailureKind
from quire.contracts.page import Classification, TextSource
from quire.contracts.routing import BreakerPolicy, DispatchPolicy, Mode, Route, Trip
from quire.domain.document.attempts import CALLED_OFF, OK
from tests.domain.simulator import Outcome, Simulation, Vendor
from tests.domain.strategies import NOW, OCR_INSTEAD
from workflows.document.dispatch import DispatchState

A_M, A_N = Route(provider="a", model="m"), Route(provider="a", model="n")
B_M = Route(provider="b", model="m")
WELL = Outcome(OK, 1.0)
HOURS_2 = 7200.0


def document(
    routes: Sequence[Route],
    pages: int,
    script: Mapping[int, Sequence[Outcome]] | Vendor,
    *,
    seconds: float = 180.0,
    trip: Trip = "adaptive",
    mode: Mode = "adaptive",
    **policy: Any,
) -> Simulation:
    books = DispatchState(
        job_id="job",
        routes=tuple(routes),
        dispatch=DispatchPolicy(mode=mode, **policy),
        breaker=BreakerPolicy(trip=trip),
        deadline=NOW + seconds,
        vision=dict.fromkeys(range(1, pages + 1), Classification.SCANNED),
    )
    return Simulation(books, script, NOW).run()


def sources(simulation: Simulation) -> dict[TextSource, int]:
    return dict(Counter(record.source for record in simulation.books.records.values()))


def then_well(*first: Outcome) -> list[Outcome]:
    return [*first, *[WELL] * 500]


# --- traps -----------------------------------------------------------------------------------


def test_hang_that_says_nothing_does_not_keep_the_place_of_the_probe() -> None:
    """The line opens, its probe hangs, and a call of before is answered meanwhile: the timeout then
    says nothing of the line, but the next page must be able to probe."""
    script = then_well(Outcome(OK, 15.0), Outcome("SERVER", 0.5), Outcome(OK, 1e9))
    simulation = document([A_M], 6, {0: script})
    assert sources(simulation) == {TextSource.AI: 6}


def test_no_page_is_the_probe_each_time() -> None:
    """The lowest page would be it, and would collect every strike."""
    outage = [Outcome("SERVER", 0.1)] * 6
    simulation = document([A_M], 10, {0: then_well(WELL, WELL, *outage)})
    assert sources(simulation) == {TextSource.AI: 10}
    failed = [
        sum(note.outcome == "SERVER" for note in record.attempts)
        for record in simulation.books.records.values()
    ]
    assert max(failed) == 1
    assert sum(failed) == 6


@pytest.mark.parametrize("fault", [Outcome("SERVER", 0.1), Outcome("BAD_BODY", 0.1)])
def test_poison_page_does_not_keep_the_only_route_shut(fault: Outcome) -> None:
    def vendor(route: int, page: int, now: float) -> Outcome:
        return fault if page == 2 else WELL

    simulation = document([A_M], 40, vendor)
    assert sources(simulation) == {TextSource.AI: 39, TextSource.MUPDF_FALLBACK: 1}
    assert simulation.now - NOW < 20 + 30, "the ideal, and the patience with the last page"
    assert simulation.calls[0] <= 39 + 12


def test_route_that_fails_a_page_while_it_is_well_is_given_up_for_that_page() -> None:
    """Page 1 makes route a fail; the other pages keep it well. Four times, and b reads it."""

    def vendor(route: int, page: int, now: float) -> Outcome:
        return Outcome("SERVER", 0.1) if page == 1 and route == 0 else WELL

    simulation = document([A_M], 60, vendor)
    notes = simulation.books.records[1].attempts
    assert 4 <= len(notes) <= 14
    elsewhere = document([A_M, B_M], 60, vendor).books.records[1]
    assert [note.outcome for note in elsewhere.attempts] == ["SERVER", OK]


def test_refusals_are_no_strikes_of_a_sick_vendor() -> None:
    refused = [Outcome("RATE", 0.1)] * 4
    simulation = document(
        [A_M], 4, {0: then_well(*refused, Outcome("SERVER", 0.1), Outcome("SERVER", 0.1))}
    )
    assert sources(simulation) == {TextSource.AI: 4}


def test_provider_knows_that_its_route_spoke() -> None:
    """It refused a call, so it is there: three lost connections are not the end."""
    lost = [Outcome("CONNECT", 0.1)] * 4
    simulation = document([A_M], 4, {0: then_well(Outcome("RATE", 0.1), *lost)})
    assert sources(simulation) == {TextSource.AI: 4}
    silent = document([A_M], 4, {0: then_well(*lost)})
    assert sources(silent) == {TextSource.MUPDF_FALLBACK: 4}


def test_slow_route_takes_the_page_that_no_faster_one_may_take() -> None:
    """Route b is ten times faster and declines page 1: a reads it, and at once."""

    def vendor(route: int, page: int, now: float) -> Outcome:
        if route == 1 and page == 1 and now < NOW + 60:
            return Outcome("CONTENT", 0.5)
        return Outcome(OK, 30.0 if route == 0 else 3.0)

    simulation = document([A_M, B_M], 30, vendor)
    assert sources(simulation) == {TextSource.AI: 30}
    read_by = {n: r.read_by for n, r in simulation.books.records.items()}
    assert read_by[1] == 0
    assert simulation.now - NOW <= 60


# --- what it promises ------------------------------------------------------------------------


def test_refused_page_goes_on_with_its_next_route_and_back() -> None:
    """A refusal bars nothing: the page that was refused first is read by whoever is free first."""
    simulation = document([A_M, B_M], 4, {0: then_well(Outcome("RATE", 0.25)), 1: [WELL]})
    assert sources(simulation) == {TextSource.AI: 4}
    assert simulation.now - NOW < 4
    assert all(not page.barred for page in simulation.books.pages.values())


def test_retry_after_is_kept() -> None:
    calls: list[float] = []

    def vendor(route: int, page: int, now: float) -> Outcome:
        calls.append(now - NOW)
        return Outcome("RATE", 0.25, 5.0) if len(calls) <= 2 else WELL

    document([A_M], 4, vendor)
    assert calls[:2] == [0.0, 0.0]
    assert calls[2] >= 5.25


def test_retry_after_beyond_the_deadline_is_not_waited_for() -> None:
    simulation = document([A_M], 4, {0: [Outcome("RATE", 0.25, 500.0)]})
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 4}
    assert simulation.now - NOW < 1


def test_overloaded_vendor_that_says_when_is_paced() -> None:
    simulation = document([A_M], 6, {0: then_well(*[Outcome("SERVER", 0.1, 2.0)] * 6)})
    assert sources(simulation) == {TextSource.AI: 6}


def test_width_grows_back_with_the_answers() -> None:
    """One of eight calls under way is refused; then fewer at once, and soon eight again."""
    route = Route(provider="a", model="m", limit=8)
    most: list[int] = []

    def vendor(number: int, page: int, now: float) -> Outcome:
        return Outcome("RATE", 0.5) if now < NOW + 0.5 and page <= 7 else Outcome(OK, 2.0)

    books = DispatchState(
        job_id="job",
        routes=(route,),
        dispatch=DispatchPolicy(mode="adaptive"),
        breaker=BreakerPolicy(trip="adaptive"),
        deadline=NOW + 180,
        vision=dict.fromkeys(range(1, 60), Classification.SCANNED),
    )
    Simulation(books, vendor, NOW, watch=lambda s: most.append(s.books.in_flight_on(0))).run()
    assert not any(record.source.degraded for record in books.records.values())
    refused = most.index(1)
    assert max(most[refused:]) >= 8


def test_all_vendors_dead_cost_seconds_and_few_calls() -> None:
    dead = [Outcome("SERVER", 0.1)]
    simulation = document([A_M, A_N, B_M], 40, {0: dead, 1: dead, 2: dead})
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 40}
    assert simulation.now - NOW < 2
    assert sum(simulation.calls.values()) <= 15


@pytest.mark.parametrize("kind", ["AUTH", "QUOTA", "MODEL"])
def test_who_refuses_us_for_good_is_not_waited_for(kind: str) -> None:
    simulation = document([A_M], 40, {0: [Outcome(kind, 0.1)]})
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 40}
    assert simulation.now - NOW < 1
    assert simulation.calls[0] <= 2


def test_last_resort_reads_what_dead_vendors_leave() -> None:
    simulation = document([A_M, OCR_INSTEAD], 10, {0: [Outcome("SERVER", 0.1)], 1: [WELL]})
    assert sources(simulation) == {TextSource.OCR_FALLBACK: 10}


def test_bad_answers_are_bought_twice_and_no_more() -> None:
    simulation = document([A_M, B_M], 1, {0: [Outcome("OUTPUT", 0.1)], 1: [Outcome("OUTPUT", 0.1)]})
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 1}
    assert simulation.calls == {0: 2, 1: 2}


def test_what_fails_on_our_side_is_not_tried_again() -> None:
    simulation = document([A_M, B_M], 1, {0: [Outcome("STORAGE", 0.1)], 1: [WELL]})
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 1}
    assert simulation.calls[0] == 1


def test_learned_cut_ends_a_call_that_hangs() -> None:
    """After five answers of 1 s a call gets 20 s, and not the vendor's 60."""
    simulation = document([A_M], 12, {0: then_well(*[WELL] * 8, Outcome(OK, 1e9))})
    assert sources(simulation) == {TextSource.AI: 12}
    assert simulation.now - NOW < 30
    cut = [n for r in simulation.books.records.values() for n in r.attempts if n.outcome != OK]
    assert [(n.outcome, n.milliseconds) for n in cut] == [("TIMEOUT", 20_000)]


def test_last_page_that_hangs_is_asked_of_another_route_too() -> None:
    """The tenth call hangs: after 10 s the other route reads the page, and the first is let go."""
    calls = Counter[int]()

    def vendor(route: int, page: int, now: float) -> Outcome:
        calls[route] += 1
        return Outcome(OK, 1e9) if sum(calls.values()) == 10 else WELL

    simulation = document([A_M, B_M], 12, vendor)
    assert sources(simulation) == {TextSource.AI: 12}
    assert simulation.now - NOW < 15
    twice = [r for r in simulation.books.records.values() if len(r.attempts) > 1]
    assert [[n.outcome for n in r.attempts] for r in twice] == [[CALLED_OFF, OK]]
    assert simulation.books.times.hedged == 1


def test_hedged_page_goes_on_with_the_one_attempt_that_is_left() -> None:
    """The second attempt fails while the first still runs: the page neither waits nor ends."""
    calls = Counter[int]()

    def vendor(route: int, page: int, now: float) -> Outcome:
        calls[route] += 1
        if sum(calls.values()) == 10:
            return Outcome(OK, 18.0)
        return Outcome("SERVER", 0.5) if now > NOW + 9 else WELL

    simulation = document([A_M, B_M], 12, vendor)
    assert sources(simulation) == {TextSource.AI: 12}
    slow = next(r for r in simulation.books.records.values() if len(r.attempts) > 1)
    assert [n.outcome for n in slow.attempts][-1] == OK
    assert "SERVER" in [n.outcome for n in slow.attempts]


def test_one_model_reads_all_pages_while_it_is_well() -> None:
    simulation = document([A_M, B_M], 20, {0: [Outcome(OK, 4.0)], 1: [WELL]}, when_busy="wait")
    assert simulation.calls == {0: 20}
    paced = document(
        [A_M, B_M], 20, {0: then_well(*[Outcome("SERVER", 0.1)] * 8), 1: [WELL]}, when_busy="wait"
    )
    assert sources(paced) == {TextSource.AI: 20}
    assert paced.calls[1] > 0, "and goes elsewhere while it is not"


# --- hold keeps its word ---------------------------------------------------------------------


@pytest.mark.parametrize("pages", [1, 3, 40])
@pytest.mark.parametrize("trip", ["adaptive", "window", "first"])
@pytest.mark.parametrize("kind", ["SERVER", "RATE", "CONNECT"])
def test_held_pages_wait_for_a_vendor_that_comes_back(kind: str, trip: Trip, pages: int) -> None:
    """Ten minutes of an outage, two hours of time: whatever opens breakers, no page gives up."""

    def vendor(route: int, page: int, now: float) -> Outcome:
        return Outcome(kind, 0.1) if now < NOW + 600 else WELL

    simulation = document([A_M, B_M], pages, vendor, seconds=HOURS_2, trip=trip, mode="hold")
    assert sources(simulation) == {TextSource.AI: pages}
    assert simulation.now - NOW < 600 + 400, "and soon after it is back"


def test_held_pages_give_up_where_waiting_cannot_help() -> None:
    simulation = document([A_M], 8, {0: [Outcome("SERVER", 0.1)]}, seconds=20.0, mode="hold")
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 8}
    assert not simulation.timed_out
    assert simulation.now - NOW < 10
    forever = document([A_M], 1, {0: [Outcome("SERVER", 0.1)]}, seconds=HOURS_2, mode="hold")
    assert sources(forever) == {TextSource.MUPDF_FALLBACK: 1}
    assert forever.now - NOW > HOURS_2 - 301, "not before the next try would come too late"
    assert forever.calls[0] < 60


def test_held_page_that_is_itself_at_fault_gives_up() -> None:
    simulation = document([A_M], 1, {0: [Outcome("OUTPUT", 0.1)]}, seconds=HOURS_2, mode="hold")
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 1}
    assert simulation.now - NOW < 60


@pytest.mark.parametrize("kind", list(FailureKind))
def test_no_failure_of_any_kind_keeps_a_document_from_its_end(kind: FailureKind) -> None:
    for mode in ("adaptive", "hold", "fail_fast"):
        bad = [Outcome(kind.value, 0.5, math.nan), Outcome(kind.value, 0.5, -1.0)]
        simulation = document([A_M, B_M], 5, {0: bad, 1: bad}, mode=mode)
        assert set(sources(simulation)) <= {
            TextSource.MUPDF_FALLBACK,
            TextSource.MUPDF_TIMEOUT_FALLBACK,
        }
