"""Whole documents: whatever vendors do, every page ends once and the books add up."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.breaker import BreakerPolicy
from domain.contracts import LOCAL_PROVIDER, Classification, Source
from domain.dispatch import Dispatch
from domain.errors import MEANING, FailureKind
from domain.records import DEADLINE, OK
from domain.routes import Route
from domain.selection import DispatchPolicy
from tests.domain.simulator import CROWDED, STOOD_DOWN, Outcome, Simulation
from tests.domain.strategies import (
    KINDS,
    NOW,
    breaker_policies,
    chains,
    classifications,
    dispatch_policies,
    quarters,
    quick,
    thorough,
)

WHATS = [OK, OK, OK, CROWDED, STOOD_DOWN, *(kind.value for kind in KINDS)]
TRIPPING = [kind for kind in KINDS if MEANING[kind].trips and kind is not FailureKind.TIMEOUT]

outcomes = st.builds(
    Outcome,
    what=st.sampled_from(WHATS),
    seconds=quarters(0, 20),
    retry_after_s=st.none() | quarters(0, 60),
)


@st.composite
def documents(draw: st.DrawFn) -> Simulation:
    routes = draw(chains())
    numbers = draw(st.sets(st.integers(1, 30), max_size=20))
    books = Dispatch(
        job_id="job",
        routes=routes,
        dispatch=draw(dispatch_policies),
        breaker=draw(breaker_policies),
        deadline=NOW + draw(quarters(1, 120)),
        vision={number: draw(classifications) for number in sorted(numbers)},
    )
    script = {
        index: draw(st.lists(outcomes, min_size=1, max_size=6)) for index in range(len(routes))
    }
    return Simulation(books, script, NOW)


def document(
    routes: Sequence[Route],
    pages: int,
    script: Mapping[int, Sequence[Outcome]],
    *,
    seconds: float = 180.0,
    breaker: BreakerPolicy | None = None,
    policy: DispatchPolicy | None = None,
) -> Simulation:
    books = Dispatch(
        job_id="job",
        routes=tuple(routes),
        dispatch=policy or DispatchPolicy(),
        breaker=breaker or BreakerPolicy(),
        deadline=NOW + seconds,
        vision=dict.fromkeys(range(1, pages + 1), Classification.SCANNED),
    )
    return Simulation(books, script, NOW).run()


def sources(simulation: Simulation) -> dict[Source, int]:
    return dict(Counter(record.source for record in simulation.books.records.values()))


@thorough
@given(documents())
def test_every_document_ends_with_one_record_a_page(simulation: Simulation) -> None:
    books = simulation.run().books
    assert books.finished
    assert sorted(books.records) == sorted(books.pages)
    assert simulation.now <= books.deadline
    late = [r for r in books.records.values() if r.source is Source.MUPDF_TIMEOUT_FALLBACK]
    assert bool(late) == simulation.timed_out
    begun = sum(len(selection.assign) for selection in simulation.selections)
    assert begun == sum(simulation.begun.values()) >= sum(simulation.calls.values())
    for record in books.records.values():
        outcomes = [note.outcome for note in record.attempts]
        assert (record.error is not None) == record.source.degraded
        if record.read_by is not None:
            local = books.routes[record.read_by].provider == LOCAL_PROVIDER
            assert record.source is (Source.OCR if local else Source.AI)
            assert outcomes[-1] == OK
        assert OK not in outcomes[:-1]
        assert DEADLINE not in outcomes[:-1]
        if books.policy.mode == "fail_fast":
            tried = [note.route for note in record.attempts]
            assert len(tried) == len(set(tried)), "fail_fast tries no route twice"
        else:
            each = Counter(note.route for note in record.attempts)
            assert not each or max(each.values()) <= books.policy.max_rounds


@quick
@given(
    kind=st.sampled_from(TRIPPING),
    seconds=quarters(0.25, 5),
    limit=st.integers(1, 3),
    good_first=st.integers(0, 4),
    mode=st.sampled_from(["fail_fast", "hold"]),
    when_busy=st.sampled_from(["spill", "wait"]),
)
def test_sick_model_gets_no_call_after_its_first_failure(
    kind: FailureKind, seconds: float, limit: int, good_first: int, mode: str, when_busy: str
) -> None:
    routes = [Route(provider="a", model="m", limit=limit), Route(provider="b", model="m")]
    well = [Outcome(OK, 1.0)] * good_first
    simulation = document(
        routes,
        30,
        {0: [*well, *[Outcome(kind.value, seconds)] * 100], 1: [Outcome(OK, 1.0)]},
        breaker=BreakerPolicy(base_backoff_s=500, max_backoff_s=500),
        policy=DispatchPolicy(mode=mode, when_busy=when_busy),  # type: ignore[arg-type]
    )
    assert simulation.begun[0] == simulation.begun_by_first_failure[0]
    assert sources(simulation) == {Source.AI: 30}


@pytest.mark.parametrize("mode", ["fail_fast", "hold"])
def test_well_vendor_reads_every_page_in_the_ideal_time(mode: str) -> None:
    routes = [Route(provider="a", model="m", limit=4)]
    policy = DispatchPolicy(mode=mode)  # type: ignore[arg-type]
    simulation = document(routes, 40, {0: [Outcome(OK, 2.0)]}, policy=policy)
    assert simulation.now - NOW == 40 / 4 * 2.0
    assert sources(simulation) == {Source.AI: 40}


@pytest.mark.parametrize("kind", KINDS)
def test_vendors_that_always_fail_cost_no_waiting(kind: FailureKind) -> None:
    routes = [Route(provider=name, model="m") for name in "ab"]
    bad = [Outcome(kind.value, 0.5)]
    simulation = document(routes, 40, {0: bad, 1: bad})
    assert sources(simulation) == {Source.MUPDF_FALLBACK: 40}
    if MEANING[kind].trips:
        assert simulation.now - NOW <= 2.0
        assert sum(simulation.calls.values()) <= 4


def test_vendors_that_hang_cost_no_more_than_the_deadline() -> None:
    routes = [Route(provider=name, model="m") for name in "ab"]
    hang = [Outcome(OK, 1e9)]
    simulation = document(routes, 10, {0: hang, 1: hang}, seconds=20.0)
    assert simulation.now - NOW <= 20.0
    assert set(sources(simulation)) <= {Source.MUPDF_FALLBACK, Source.MUPDF_TIMEOUT_FALLBACK}


def test_hold_gets_through_a_short_illness() -> None:
    routes = [Route(provider="a", model="m")]
    ill = [Outcome("SERVER", 0.5)] * 2
    script = {0: [*ill, *[Outcome(OK, 0.5)] * 100]}
    simulation = document(routes, 20, script, policy=DispatchPolicy(mode="hold"))
    assert sources(simulation) == {Source.AI: 20}
    given_up = document(routes, 20, script)
    assert sources(given_up) == {Source.MUPDF_FALLBACK: 20}


def test_last_resort_reads_what_vendors_cannot() -> None:
    local = Route(provider=LOCAL_PROVIDER, model="rapidocr", limit=1, last_resort_for="scanned")
    routes = [Route(provider="a", model="m"), local]
    script = {0: [Outcome("AUTH", 0.25)], 1: [Outcome(OK, 0.25)]}
    simulation = document(routes, 10, script)
    assert sources(simulation) == {Source.OCR: 10}
    assert simulation.calls[0] <= 2


def test_crowded_route_is_asked_less_and_less_often() -> None:
    routes = [Route(provider="a", model="m", limit=1)]
    simulation = document(routes, 3, {0: [Outcome(CROWDED, 0.25)]}, seconds=180.0)
    assert sources(simulation) == {Source.MUPDF_TIMEOUT_FALLBACK: 3}
    assert simulation.calls[0] <= 8
