"""Whole documents: whatever vendors do, every page ends once and the books add up."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.codes import Code, FailureKind
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import Classification, TextSource
from quire.contracts.routing import BreakerPolicy, DispatchPolicy, Route
from quire.domain.document.attempts import DEADLINE, OK
from quire.domain.errors import MEANING
from tests.domain.simulator import CROWDED, STOOD_DOWN, STORED, Outcome, Simulation
from tests.domain.strategies import (
    KINDS,
    NOW,
    OCR_INSTEAD,
    breaker_policies,
    chains,
    classifications,
    dispatch_policies,
    quarters,
    quick,
    thorough,
)
from workflows.document.dispatch import DispatchState

WHATS = [OK, OK, OK, STORED, CROWDED, STOOD_DOWN, *(kind.value for kind in KINDS)]
TRIPPING = [kind for kind in KINDS if MEANING[kind].trips and kind is not FailureKind.TIMEOUT]
# Failures that are no vendor's fault: only these use up the rounds of a held page.
OWN_FAULTS = {kind.value for kind in KINDS if not MEANING[kind].trips}

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
    books = DispatchState(
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
    watch: Callable[[Simulation], None] = lambda simulation: None,
) -> Simulation:
    books = DispatchState(
        job_id="job",
        routes=tuple(routes),
        dispatch=policy or DispatchPolicy(),
        breaker=breaker or BreakerPolicy(),
        deadline=NOW + seconds,
        vision=dict.fromkeys(range(1, pages + 1), Classification.SCANNED),
    )
    return Simulation(books, script, NOW, watch=watch).run()


def sources(simulation: Simulation) -> dict[TextSource, int]:
    return dict(Counter(record.source for record in simulation.books.records.values()))


@thorough
@given(documents(), st.sampled_from([1, 2, 5, 64]))
def test_every_document_ends_with_one_record_a_page(simulation: Simulation, in_view: int) -> None:
    with mock.patch("workflows.document.snapshot.PAGES_IN_VIEW", in_view):
        books = simulation.run().books
    assert books.finished
    assert sorted(books.records) == sorted(books.pages)
    assert simulation.now <= books.deadline
    late = [r for r in books.records.values() if r.source is TextSource.MUPDF_TIMEOUT_FALLBACK]
    assert bool(late) == simulation.timed_out
    begun = sum(len(selection.assign) for selection in simulation.selections)
    assert begun == sum(simulation.begun.values()) >= sum(simulation.calls.values())
    for record in books.records.values():
        outcomes = [note.outcome for note in record.attempts]
        assert (record.error is not None) == record.source.degraded
        if record.read_by is not None:
            route = books.routes[record.read_by]
            local = TextSource.OCR_FALLBACK if route.degrades else TextSource.OCR
            assert record.source is (local if route.provider == LOCAL_PROVIDER else TextSource.AI)
            assert outcomes[-1] == OK
        assert OK not in outcomes[:-1]
        assert DEADLINE not in outcomes[:-1]
        if books.policy.mode == "fail_fast" and not books.adaptive:
            tried = [note.route for note in record.attempts]
            assert len(tried) == len(set(tried)), "fail_fast tries no route twice"
        elif books.policy.mode == "hold" and not books.adaptive:
            at_fault = [n for n in record.attempts if n.outcome in OWN_FAULTS]
            each = Counter(note.route for note in at_fault)
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
    assert sources(simulation) == {TextSource.AI: 30}


@pytest.mark.parametrize("mode", ["fail_fast", "hold"])
def test_well_vendor_reads_every_page_in_the_ideal_time(mode: str) -> None:
    routes = [Route(provider="a", model="m", limit=4)]
    policy = DispatchPolicy(mode=mode)  # type: ignore[arg-type]
    simulation = document(routes, 40, {0: [Outcome(OK, 2.0)]}, policy=policy)
    assert simulation.now - NOW == 40 / 4 * 2.0
    assert sources(simulation) == {TextSource.AI: 40}


@pytest.mark.parametrize("kind", KINDS)
def test_vendors_that_always_fail_cost_no_waiting(kind: FailureKind) -> None:
    routes = [Route(provider=name, model="m") for name in "ab"]
    bad = [Outcome(kind.value, 0.5)]
    simulation = document(routes, 40, {0: bad, 1: bad})
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 40}
    if MEANING[kind].trips:
        assert simulation.now - NOW <= 2.0
        assert sum(simulation.calls.values()) <= 4


@pytest.mark.parametrize("mode", ["fail_fast", "hold"])
@pytest.mark.parametrize("kind", [FailureKind.SERVER, FailureKind.CONNECT, FailureKind.AUTH])
def test_more_pages_than_one_look_sees_cost_no_waiting_either(kind: FailureKind, mode: str) -> None:
    routes = [Route(provider=name, model="m") for name in "ab"]
    bad = [Outcome(kind.value, 0.5)]
    simulation = document(
        routes,
        200,
        {0: bad, 1: bad},
        breaker=BreakerPolicy(base_backoff_s=500, max_backoff_s=500),
        policy=DispatchPolicy(mode=mode),  # type: ignore[arg-type]
    )
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 200}
    assert simulation.now - NOW <= 2.0
    assert sum(simulation.calls.values()) <= 4
    assert len(simulation.selections) <= 10


@pytest.mark.parametrize("pages", [64, 65, 100, 1000])
def test_without_routes_every_page_falls_back_at_once(pages: int) -> None:
    simulation = document([], pages, {})
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: pages}
    assert simulation.now == NOW
    assert not simulation.timed_out
    assert len(simulation.selections) == -(-pages // 64)


def test_deferred_pages_do_not_hide_those_behind_them() -> None:
    """80 of 150 pages wait for their next round: the other 70 are read in the meantime."""
    ended_at: dict[int, float] = {}

    def watch(simulation: Simulation) -> None:
        for page in simulation.books.records:
            ended_at.setdefault(page, simulation.now - NOW)

    cut_off = [Outcome("OUTPUT", 0.5)] * 80
    simulation = document(
        [Route(provider="a", model="m", limit=4)],
        150,
        {0: [*cut_off, *[Outcome(OK, 0.5)] * 999]},
        seconds=600.0,
        policy=DispatchPolicy(mode="hold", base_delay_s=60.0, jitter_max_s=0.0),
        watch=watch,
    )
    assert sources(simulation) == {TextSource.AI: 150}
    assert sum(1 for moment in ended_at.values() if moment < 30) == 70
    assert max(ended_at.values()) < 90


@pytest.mark.parametrize(
    ("mode", "first"),
    [("hold", Outcome("RATE", 0.25, 150.0)), ("fail_fast", Outcome(OK, 20.0))],
    ids=["a route that rests", "a route that is slow"],
)
def test_pages_that_wait_for_one_route_do_not_hide_those_for_another(
    mode: str, first: Outcome
) -> None:
    """Route b cuts 70 pages off, which now wait for a; the other 50 are b's, and b is idle."""
    routes = [Route(provider="a", model="m", limit=1), Route(provider="b", model="m", limit=4)]
    cut_off = [Outcome("OUTPUT", 0.25)] * 70
    read_by_b: set[int] = set()

    def watch(simulation: Simulation) -> None:
        if simulation.now < NOW + 60:
            records = simulation.books.records.items()
            read_by_b.update(page for page, record in records if record.read_by == 1)

    document(
        routes,
        120,
        {0: [first, *[first._replace(what=OK)] * 999], 1: [*cut_off, *[Outcome(OK, 0.25)] * 999]},
        policy=DispatchPolicy(mode=mode),  # type: ignore[arg-type]
        watch=watch,
    )
    assert len(read_by_b) >= 48


def test_rounds_without_a_pause_come_to_an_end() -> None:
    simulation = document(
        [Route(provider="a", model="m")],
        100,
        {0: [Outcome("OUTPUT", 0.25)]},
        seconds=600.0,
        policy=DispatchPolicy(mode="hold", base_delay_s=0.0, jitter_max_s=0.0),
    )
    assert sources(simulation) == {TextSource.MUPDF_FALLBACK: 100}
    assert simulation.calls[0] == 300


def test_failing_store_ends_pages_and_blames_nobody() -> None:
    routes = [Route(provider=name, model="m") for name in "ab"]
    script = {0: [Outcome("STORAGE", 0.5), Outcome(OK, 0.5)], 1: [Outcome(OK, 0.5)]}
    simulation = document(routes, 8, script)
    lost = [r for r in simulation.books.records.values() if r.source.degraded]
    assert lost
    for record in lost:
        assert record.error is not None
        assert (record.error.code, record.error.error_type) == (Code.IO_ERROR, "retryable")
        assert len(record.attempts) == 1
    assert all(b.failures == 0 for b in simulation.books.health.breakers.values())


def test_vendors_that_hang_cost_no_more_than_the_deadline() -> None:
    routes = [Route(provider=name, model="m") for name in "ab"]
    hang = [Outcome(OK, 1e9)]
    simulation = document(routes, 10, {0: hang, 1: hang}, seconds=20.0)
    assert simulation.now - NOW <= 20.0
    assert set(sources(simulation)) <= {
        TextSource.MUPDF_FALLBACK,
        TextSource.MUPDF_TIMEOUT_FALLBACK,
    }


def test_hold_gets_through_a_short_illness() -> None:
    routes = [Route(provider="a", model="m")]
    ill = [Outcome("SERVER", 0.5)] * 2
    script = {0: [*ill, *[Outcome(OK, 0.5)] * 100]}
    simulation = document(routes, 20, script, policy=DispatchPolicy(mode="hold"))
    assert sources(simulation) == {TextSource.AI: 20}
    given_up = document(routes, 20, script)
    assert sources(given_up) == {TextSource.MUPDF_FALLBACK: 20}


def test_last_resort_reads_what_vendors_cannot() -> None:
    routes = [Route(provider="a", model="m"), OCR_INSTEAD]
    script = {0: [Outcome("AUTH", 0.25)], 1: [Outcome(OK, 0.25)]}
    simulation = document(routes, 10, script)
    assert sources(simulation) == {TextSource.OCR_FALLBACK: 10}
    assert simulation.calls[0] <= 2


def test_crowded_route_is_asked_less_and_less_often() -> None:
    routes = [Route(provider="a", model="m", limit=1)]
    simulation = document(routes, 3, {0: [Outcome(CROWDED, 0.25)]}, seconds=180.0)
    assert sources(simulation) == {TextSource.MUPDF_TIMEOUT_FALLBACK: 3}
    assert simulation.calls[0] <= 8
