"""The gate of a worker: what is queued behind a failure does not call the vendor that failed."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.recognize import Attempting, RouteGate
from domain.breaker import BreakerPolicy
from domain.contracts import AttemptRequest, Brief, Classification, ReadingOptions
from domain.dispatch import Dispatch, Flight
from domain.errors import MEANING, FailureKind
from domain.records import OK
from domain.routes import Route
from domain.selection import DispatchPolicy
from tests.domain.simulator import Outcome, Simulation
from tests.domain.strategies import KINDS, NOW, quarters, quick

ROUTES = (("a", "m"), ("a", "n"), ("b", "m"))
OF_ROUTE = [kind for kind in KINDS if MEANING[kind].trips == "route"]
OF_PROVIDER = [kind for kind in KINDS if MEANING[kind].trips == "provider"]
OF_NOBODY = [kind for kind in KINDS if MEANING[kind].trips is None]
LONG = [kind for kind in KINDS if MEANING[kind].trips and MEANING[kind].rests == "long"]


def attempt(
    route: int = 0,
    begun_at: tuple[int, int] = (0, 0),
    *,
    run: str = "run",
    stand_down: bool = True,
    routes: Iterable[tuple[str, str]] = ROUTES,
) -> Attempting:
    return Attempting(
        run_id=run,
        brief=Brief(
            job_id="job",
            sha256="0" * 64,
            page_count=1,
            reading=ReadingOptions(system_prompt="read"),
            routes=tuple(routes),
            stand_down=stand_down,
        ),
        request=AttemptRequest(brief="brief", page=1, seconds=60.0, route=route, begun_at=begun_at),
    )


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


def test_memory_is_bounded_and_the_oldest_goes_first() -> None:
    gate = RouteGate(remembered=3)
    for number in range(5):
        gate.failed(attempt(run=f"run {number}"), FailureKind.SERVER)
    closed = [gate.closed_for(attempt(run=f"run {number}")) for number in range(5)]
    assert closed == [False, False, True, True, True]


class Gated(Simulation):
    """A document whose attempts all pass one worker's gate."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gate = RouteGate()

    def stands_down(self, page: int, flight: Flight) -> bool:
        return self.gate.closed_for(self._attempting(flight))

    def saw_failure(self, page: int, flight: Flight, kind: FailureKind) -> None:
        self.gate.failed(self._attempting(flight), kind)

    def _attempting(self, flight: Flight) -> Attempting:
        routes = [(route.provider, route.model) for route in self.books.routes]
        return attempt(flight.route, flight.begun_at, routes=routes)


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
    books = Dispatch(
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


def test_gate_opens_again_for_the_probe() -> None:
    books = Dispatch(
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
