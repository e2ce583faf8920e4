"""The gate of a worker: what is queued behind a failure does not call the vendor that failed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.support.gate import GATE_CLOSED_FOR_S, RouteGate
from quire.contracts.codes import FailureKind
from quire.contracts.page import Classification, TextSource
from quire.contracts.routing import BreakerPolicy, DispatchPolicy, Route
from quire.domain.document.attempts import OK
from quire.domain.errors import MEANING
from tests.domain.gated import Gated, attempt
from tests.domain.simulator import Outcome
from tests.domain.strategies import KINDS, NOW, quarters, quick
from workflows.document.dispatch import DispatchState

OF_ROUTE = [kind for kind in KINDS if MEANING[kind].trips == "route"]
OF_PROVIDER = [kind for kind in KINDS if MEANING[kind].trips == "provider"]
OF_NOBODY = [kind for kind in KINDS if MEANING[kind].trips is None]
LONG = [kind for kind in KINDS if MEANING[kind].trips and MEANING[kind].rests == "long"]


@pytest.mark.parametrize("kind", OF_ROUTE)
def test_failed_route_is_closed_and_its_sibling_is_not(kind: FailureKind) -> None:
    gate = RouteGate()
    assert not gate.closed_for(attempt(0))
    gate.failed(attempt(0), kind)
    assert gate.closed_for(attempt(0))
    assert not gate.closed_for(attempt(1))
    assert not gate.closed_for(attempt(2))


@pytest.mark.parametrize("kind", OF_PROVIDER)
def test_failed_provider_is_closed_with_all_its_routes(kind: FailureKind) -> None:
    gate = RouteGate()
    gate.failed(attempt(0), kind)
    assert gate.closed_for(attempt(0))
    assert gate.closed_for(attempt(1))
    assert not gate.closed_for(attempt(2))


@pytest.mark.parametrize("kind", OF_NOBODY)
def test_failure_of_the_page_closes_nothing(kind: FailureKind) -> None:
    gate = RouteGate()
    gate.failed(attempt(0), kind)
    assert not gate.closed_for(attempt(0))


def test_attempt_begun_after_the_breaker_moved_may_call() -> None:
    gate = RouteGate()
    gate.failed(attempt(0, (3, 0)), FailureKind.SERVER)
    assert gate.closed_for(attempt(0, (2, 0)))
    assert gate.closed_for(attempt(0, (3, 0)))
    assert not gate.closed_for(attempt(0, (4, 0)))


def test_each_breaker_has_its_own_count() -> None:
    gate = RouteGate()
    gate.failed(attempt(0, (5, 2)), FailureKind.CONNECT)
    assert gate.closed_for(attempt(1, (9, 2)))
    assert not gate.closed_for(attempt(1, (0, 3)))


def test_documents_do_not_close_each_others_routes() -> None:
    gate = RouteGate()
    gate.failed(attempt(run="one"), FailureKind.SERVER)
    assert gate.closed_for(attempt(run="one"))
    assert not gate.closed_for(attempt(run="two"))


@pytest.mark.parametrize("kind", [k for k in (*OF_ROUTE, *OF_PROVIDER) if k not in LONG])
def test_one_failure_closes_nothing_while_breakers_count(kind: FailureKind) -> None:
    gate = RouteGate()
    gate.failed(attempt(stand_down=False), kind)
    assert not gate.closed_for(attempt(stand_down=False))


@pytest.mark.parametrize("kind", LONG)
def test_what_does_not_heal_closes_even_while_breakers_count(kind: FailureKind) -> None:
    gate = RouteGate()
    gate.failed(attempt(stand_down=False), kind)
    assert gate.closed_for(attempt(stand_down=False))


@pytest.mark.parametrize(("seconds", "closed"), [(60.0, True), (30.0, True), (29.9, False)])
def test_timeout_in_a_hurry_of_ours_closes_nothing(seconds: float, closed: bool) -> None:
    """The breaker does not count it either, so nothing would ever open the gate again."""
    gate = RouteGate()
    gate.failed(attempt(0, seconds=seconds), FailureKind.TIMEOUT)
    assert gate.closed_for(attempt(0)) is closed


@pytest.mark.parametrize("kind", [k for k in (*OF_ROUTE, *OF_PROVIDER) if k != "TIMEOUT"])
def test_any_other_failure_in_a_hurry_closes(kind: FailureKind) -> None:
    gate = RouteGate()
    gate.failed(attempt(0, seconds=0.5), kind)
    assert gate.closed_for(attempt(0))


def test_hurry_is_measured_by_the_routes_own_timeout() -> None:
    routes = (("a", "m", 10.0), ("b", "m", 100.0))
    gate = RouteGate()
    for route in (0, 1):
        gate.failed(attempt(route, seconds=8.0, routes=routes), FailureKind.TIMEOUT)
    assert gate.closed_for(attempt(0, routes=routes))
    assert not gate.closed_for(attempt(1, routes=routes))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_gate_opens_by_itself_and_forgets() -> None:
    clock = Clock()
    gate = RouteGate(clock=clock)
    for number in range(5):
        clock.now = float(number)
        gate.failed(attempt(run=f"run {number}"), FailureKind.SERVER)
    clock.now = GATE_CLOSED_FOR_S - 0.25
    assert all(gate.closed_for(attempt(run=f"run {number}")) for number in range(5))
    clock.now = GATE_CLOSED_FOR_S + 1.5
    closed = [gate.closed_for(attempt(run=f"run {number}")) for number in range(5)]
    assert closed == [False, False, True, True, True]
    assert len(gate._failed_at) == 3, "what is over is not kept"


def test_new_failure_keeps_the_gate_closed_for_its_full_time() -> None:
    clock = Clock()
    gate = RouteGate(clock=clock)
    gate.failed(attempt(run="one"), FailureKind.SERVER)
    gate.failed(attempt(run="two"), FailureKind.SERVER)
    clock.now = GATE_CLOSED_FOR_S - 1
    gate.failed(attempt(0, (1, 0), run="one"), FailureKind.SERVER)
    clock.now = GATE_CLOSED_FOR_S + 1
    assert gate.closed_for(attempt(0, (1, 0), run="one"))
    assert not gate.closed_for(attempt(run="two")), "the younger is not hidden by the older"


def test_late_failure_of_an_older_attempt_opens_nothing() -> None:
    gate = RouteGate()
    gate.failed(attempt(0, (3, 0)), FailureKind.SERVER)
    gate.failed(attempt(0, (1, 0)), FailureKind.SERVER)
    assert gate.closed_for(attempt(0, (3, 0)))
    assert not gate.closed_for(attempt(0, (4, 0)))


@quick
@given(
    kind=st.sampled_from([k for k in (*OF_ROUTE, *OF_PROVIDER) if k is not FailureKind.TIMEOUT]),
    seconds=quarters(0.25, 3),
    good_first=st.integers(0, 9),
    limit=st.integers(1, 3),
)
def test_vendor_that_fails_is_not_called_by_what_is_queued(
    kind: FailureKind, seconds: float, good_first: int, limit: int
) -> None:
    """Pages wait behind the slots of a route that has answered; then it falls ill."""
    books = DispatchState(
        job_id="job",
        routes=(Route(provider="a", model="m", limit=limit), Route(provider="b", model="m")),
        dispatch=DispatchPolicy(),
        breaker=BreakerPolicy(base_backoff_s=500, max_backoff_s=500),
        deadline=NOW + 180,
        vision=dict.fromkeys(range(1, 31), Classification.SCANNED),
    )
    ill = [Outcome(OK, 1.0)] * good_first + [Outcome(kind.value, seconds)] * 100
    document = Gated(books, {0: ill, 1: [Outcome(OK, 1.0)]}, NOW).run()
    assert not document.timed_out
    assert document.calls[0] == document.calls_by_first_failure[0]
    assert all(not record.source.degraded for record in books.records.values())


def test_slow_page_shortly_before_the_deadline_stops_no_other() -> None:
    """With 20 of 60 seconds left a timeout says nothing: neither to the breaker nor to the gate."""
    books = DispatchState(
        job_id="job",
        routes=(Route(provider="a", model="m", limit=1), Route(provider="b", model="m", limit=1)),
        dispatch=DispatchPolicy(),
        breaker=BreakerPolicy(),
        deadline=NOW + 20,
        vision=dict.fromkeys(range(1, 8), Classification.SCANNED),
    )
    hang = Outcome(OK, 1e9)
    document = Gated(books, {0: [hang, *[Outcome(OK, 1.0)] * 99], 1: [hang]}, NOW).run()
    read = [page for page, record in books.records.items() if record.source is TextSource.AI]
    assert read == [3, 4, 5, 6, 7]
    assert document.begun[0] == document.calls[0] == 6, "nobody stood down"


def test_gate_opens_again_for_the_probe() -> None:
    books = DispatchState(
        job_id="job",
        routes=(Route(provider="a", model="m", limit=1),),
        dispatch=DispatchPolicy(mode="hold"),
        breaker=BreakerPolicy(base_backoff_s=10),
        deadline=NOW + 180,
        vision=dict.fromkeys(range(1, 6), Classification.SCANNED),
    )
    script = {0: [Outcome("SERVER", 1.0), *[Outcome(OK, 1.0)] * 99]}
    document = Gated(books, script, NOW).run()
    assert document.calls[0] == 6
    assert all(not record.source.degraded for record in books.records.values())
