"""One selection from any snapshot obeys every law; then the rules one by one."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import Classification
from quire.contracts.routing import Breaker, BreakerState, DispatchPolicy, Route
from quire.contracts.selection import Assignment, PageView, RouteView, Selection, Snapshot
from quire.domain.routing.selection import select
from tests.domain.laws import fraction, judge
from tests.domain.strategies import NOW, snapshots, thorough

OPEN = Breaker(state=BreakerState.OPEN, retry_at=NOW + 30, changes=1)
RIPE = Breaker(state=BreakerState.OPEN, retry_at=NOW - 1, changes=1)
PROBED = Breaker(state=BreakerState.HALF_OPEN, retry_at=NOW - 1, changes=2)


def view(
    provider: str = "a", model: str = "m", limit: int = 2, ahead: int = 0, **state: Any
) -> RouteView:
    route = Route(provider=provider, model=model, limit=limit, ahead=ahead)
    return RouteView(route=route, **state)


def local(role: str = "every_page", **state: Any) -> RouteView:
    route = Route(provider=LOCAL_PROVIDER, model="ocr", limit=1, last_resort_for=role)  # type: ignore[arg-type]
    return RouteView(route=route, **state)


def page(number: int, *barred: int, good: Sequence[int] = (), **state: Any) -> PageView:
    return PageView(
        page=number,
        classification=Classification.SCANNED,
        barred=(*barred, *good),
        barred_for_good=tuple(good),
        **state,
    )


def chosen(
    routes: Sequence[RouteView],
    pages: Sequence[PageView] | int,
    *,
    deadline: float = NOW + 180,
    **policy: Any,
) -> Selection:
    if isinstance(pages, int):
        pages = [page(number) for number in range(1, pages + 1)]
    snapshot = Snapshot(
        job_id="job",
        now=NOW,
        deadline=deadline,
        in_flight=sum(route.in_flight for route in routes),
        policy=DispatchPolicy(**policy),
        routes=tuple(routes),
        pages=tuple(pages),
    )
    selection = select(snapshot)
    judge(snapshot, selection)
    return selection


def where(selection: Selection) -> list[tuple[int, int, str]]:
    return [(a.page, a.route, a.how) for a in selection.assign]


@thorough
@given(snapshots())
def test_every_selection_obeys_the_laws(snapshot: Snapshot) -> None:
    selection = select(snapshot)
    judge(snapshot, selection)
    for start in selection.assign:
        timeout = snapshot.routes[start.route].route.timeout_s
        left = snapshot.deadline - snapshot.now
        assert min(0.5, timeout) - 0.05 <= start.seconds
        assert start.seconds <= min(timeout, max(0.5, left)) + 0.05
    # The same again after a journey through history, and whatever order the barred are in.
    shuffled = [page.model_copy(update={"barred": page.barred[::-1]}) for page in snapshot.pages]
    assert select(snapshot.model_copy(update={"pages": tuple(shuffled)})) == selection
    assert select(Snapshot.model_validate_json(snapshot.model_dump_json())) == selection
    assert Selection.model_validate_json(selection.model_dump_json()) == selection


# --- slots ---------------------------------------------------------------------------------


def test_spill_fills_the_first_route_then_the_next() -> None:
    selection = chosen([view("a"), view("b")], 5)
    assert where(selection) == [(1, 0, "now"), (2, 0, "now"), (3, 1, "now"), (4, 1, "now")]
    assert selection.wake_at is None


def test_wait_keeps_to_one_model_while_it_is_well() -> None:
    """Also those that its worker draws ahead: they would wait for it wherever they are."""
    assert where(chosen([view("a", ahead=1), view("b")], 5, when_busy="wait")) == [
        (1, 0, "now"),
        (2, 0, "now"),
        (3, 0, "behind"),
    ]


def test_wait_queues_no_more_behind_a_route_that_has_never_answered() -> None:
    """It may hang, and whatever is queued behind it would hang too."""
    assert not chosen([view("a", ahead=1, in_flight=3), view("b")], 5, when_busy="wait").assign
    answered = view("a", ahead=1, in_flight=3, answered=True)
    assert len(chosen([answered, view("b")], 5, when_busy="wait").assign) == 2


def test_wait_moves_on_when_its_model_rests() -> None:
    moved = chosen([view("a", breaker=OPEN), view("b", ahead=1)], 4, when_busy="wait")
    assert [a.route for a in moved.assign] == [1, 1, 1]


def test_wait_moves_a_page_on_that_its_model_failed() -> None:
    selection = chosen([view("a", in_flight=2), view("b")], [page(1, 0)], when_busy="wait")
    assert where(selection) == [(1, 1, "now")]


def test_window_bounds_everything_under_way() -> None:
    assert len(chosen([view(limit=50)], 20, window=7).assign) == 7
    assert not chosen([view(limit=50, in_flight=7)], 20, window=7).assign


@pytest.mark.parametrize("mode", ["fail_fast", "hold"])
def test_queue_behind_answered_routes_up_to_twice_the_limit(mode: str) -> None:
    routes = [view("a", in_flight=2, answered=True), view("b", in_flight=2)]
    selection = chosen(routes, 9, mode=mode)
    assert where(selection) == [(1, 0, "behind"), (2, 0, "behind")]


def test_queue_is_longer_by_what_a_worker_takes_up_ahead() -> None:
    route = Route(provider="a", model="m", limit=2, ahead=1)
    routes = [RouteView(route=route, in_flight=2, answered=True), view("b", in_flight=2)]
    assert where(chosen(routes, 9)) == [(page, 0, "behind") for page in (1, 2, 3)]


def test_queue_behind_the_shorter_queue() -> None:
    routes = [
        view("a", in_flight=3, answered=True),
        view("b", limit=4, in_flight=4, answered=True),
    ]
    assert [a.route for a in chosen(routes, 9).assign] == [1, 1, 0, 1, 1]


def test_wait_queues_behind_its_own_model_only() -> None:
    routes = [view("a", in_flight=2, answered=True), view("b", answered=True)]
    assert where(chosen(routes, 9, when_busy="wait")) == [(1, 0, "behind"), (2, 0, "behind")]


def test_last_pages_are_not_queued() -> None:
    routes = [view("a", in_flight=2, answered=True), view("b", in_flight=2, answered=True)]
    assert not chosen(routes, 2).assign


def test_crowded_route_is_passed_over_and_looked_at_again() -> None:
    selection = chosen([view("a", crowded_until=NOW + 2), view("b")], 1)
    assert where(selection) == [(1, 1, "now")]
    alone = chosen([view("a", crowded_until=NOW + 2, answered=True)], 3)
    assert not alone.assign
    assert not alone.fall_back
    assert alone.wake_at == NOW + 2


# --- probes --------------------------------------------------------------------------------


def test_one_probe_in_one_selection() -> None:
    selection = chosen([view("a", breaker=RIPE), view("b")], 4)
    assert where(selection) == [(1, 0, "probe"), (2, 1, "now"), (3, 1, "now")]


def test_one_probe_across_the_routes_of_a_provider() -> None:
    siblings = [view("a", m, provider_breaker=RIPE) for m in ("m", "n", "o")]
    selection = chosen([*siblings, view("b")], 3)
    assert where(selection) == [(1, 0, "probe"), (2, 3, "now"), (3, 3, "now")]


def test_sick_sibling_probes_beside_a_well_one() -> None:
    selection = chosen([view("a", "m", breaker=RIPE), view("a", "n")], 3)
    assert where(selection) == [(1, 0, "probe"), (2, 1, "now"), (3, 1, "now")]


def test_no_second_probe_while_one_is_under_way() -> None:
    selection = chosen([view("a", breaker=PROBED, in_flight=1), view("b")], 1)
    assert where(selection) == [(1, 1, "now")]


def test_both_breakers_must_agree() -> None:
    selection = chosen([view("a", breaker=RIPE, provider_breaker=OPEN), view("b")], 1)
    assert where(selection) == [(1, 1, "now")]
    assert selection.wake_at == NOW + 30


# --- exhausted, busy, last resort ------------------------------------------------------------


def test_exhausted_pages_fall_back_at_once_and_busy_ones_do_not() -> None:
    routes = [view("a", breaker=OPEN), view("b", in_flight=2)]
    selection = chosen(routes, [page(1, 1), page(2, 0, 1), page(3)])
    assert selection.fall_back == (1, 2)
    assert not selection.assign


def test_without_routes_every_page_falls_back() -> None:
    assert chosen([], 3).fall_back == (1, 2, 3)


def test_last_resort_never_because_of_busy() -> None:
    assert not chosen([view("a", in_flight=2), local()], 9).assign


def test_last_resort_when_all_else_is_exhausted() -> None:
    routes = [view("a", breaker=OPEN), view("b"), local()]
    assert where(chosen(routes, [page(1, 1)])) == [(1, 2, "now")]
    assert where(chosen(routes, [page(1)])) == [(1, 1, "now")]


def test_busy_last_resort_is_waited_for() -> None:
    selection = chosen([view("a", breaker=OPEN), local(in_flight=1)], 2)
    assert not selection.assign
    assert not selection.fall_back


def test_last_resort_for_scans_leaves_other_pages_alone() -> None:
    graphics = PageView(page=1, classification=Classification.HAS_GRAPHICS)
    routes = [view("a", breaker=OPEN), local("scanned")]
    assert chosen(routes, [graphics]).fall_back == (1,)
    assert where(chosen(routes, [page(2)])) == [(2, 1, "now")]


# --- hold ----------------------------------------------------------------------------------


def test_hold_waits_for_a_breaker_that_opens_in_time() -> None:
    selection = chosen([view("a", breaker=OPEN)], 1, mode="hold")
    assert selection == Selection(wake_at=NOW + 30)


def test_hold_falls_back_when_no_breaker_opens_in_time() -> None:
    selection = chosen([view("a", breaker=OPEN)], 1, mode="hold", deadline=NOW + 30)
    assert selection.fall_back == (1,)


def test_hold_waits_before_the_last_resort_is_asked() -> None:
    assert not chosen([view("a", breaker=OPEN), local()], 1, mode="hold").assign
    late = chosen([view("a", breaker=OPEN), local()], 1, mode="hold", deadline=NOW + 30)
    assert where(late) == [(1, 1, "now")]


def test_hold_takes_rounds_with_growing_delays() -> None:
    for round_ in range(3):
        selection = chosen(
            [view("a")],
            [page(7, 0, round=round_)],
            mode="hold",
            max_rounds=4,
            base_delay_s=5.0,
            jitter_max_s=2.0,
        )
        delay = 5.0 * 2**round_ + 2.0 * fraction("job", 7, round_)
        assert [(d.page, d.not_before) for d in selection.defer] == [(7, NOW + delay)]
        assert selection.wake_at == NOW + delay


def test_hold_takes_no_more_rounds_than_allowed() -> None:
    for rounds in (1, 2, 3):
        last = page(1, 0, round=rounds - 1)
        assert chosen([view("a")], [last], mode="hold", max_rounds=rounds).fall_back == (1,)


def test_hold_gives_no_round_to_what_is_barred_for_good() -> None:
    assert chosen([view("a")], [page(1, good=[0])], mode="hold").fall_back == (1,)


def test_hold_gives_no_round_beyond_the_deadline() -> None:
    assert chosen([view("a")], [page(1, 0)], mode="hold", deadline=NOW + 5).fall_back == (1,)


def test_round_begins_when_the_first_of_its_routes_may_be_called() -> None:
    resting = OPEN.model_copy(update={"retry_at": NOW + 60})
    selection = chosen([view("a", breaker=resting)], [page(1, 0)], mode="hold")
    assert selection.defer[0].not_before == NOW + 60


def test_deferred_page_is_left_alone_until_its_time() -> None:
    selection = chosen([view("a")], [page(1, not_before=NOW + 4)], mode="hold")
    assert selection == Selection(wake_at=NOW + 4)


def test_jitter_is_spread_and_the_same_every_time() -> None:
    draws = [fraction("job", number, 0) for number in range(200)]
    assert 0.0 <= min(draws) < 0.1
    assert 0.9 < max(draws) < 1.0


# --- time ----------------------------------------------------------------------------------


def test_unproven_route_leaves_room_for_the_others() -> None:
    routes = [view("a"), view("b"), view("c")]
    assert chosen(routes, 1, deadline=NOW + 90).assign == (Assignment(1, 0, 30.0),)


def test_proven_route_gets_all_that_is_left() -> None:
    routes = [view("a", answered=True), view("b"), view("c")]
    assert chosen(routes, 1, deadline=NOW + 45).assign == (Assignment(1, 0, 45.0),)


def test_routes_that_rest_get_no_share() -> None:
    routes = [view("a"), view("b", breaker=OPEN), view("c")]
    assert chosen(routes, 1, deadline=NOW + 90).assign == (Assignment(1, 0, 45.0),)


# --- slow routes ---------------------------------------------------------------------------


def slow_and_fast(waiting: PageView, **fast: Any) -> Selection:
    """Route a takes 30 s and b a second; this page alone waits."""
    routes = (view("a", latencies=(30_000,)), view("b", latencies=(1_000,), **fast))
    snapshot = Snapshot(
        job_id="job",
        now=NOW,
        deadline=NOW + 180,
        in_flight=0,
        policy=DispatchPolicy(mode="adaptive"),
        routes=routes,
        pages=(waiting,),
        adaptive=True,
        waiting=1,
    )
    selection = select(snapshot)
    judge(snapshot, selection)
    return selection


def test_slow_route_is_passed_over_for_one_that_may_read_the_page() -> None:
    assert where(slow_and_fast(page(1))) == [(1, 1, "now")]


@pytest.mark.parametrize("barred", [page(1, 1), page(1, good=[1])])
def test_fast_route_that_is_barred_to_the_page_keeps_it_from_none(barred: PageView) -> None:
    assert where(slow_and_fast(barred)) == [(1, 0, "now")]


def test_fast_route_that_rests_keeps_a_page_from_none() -> None:
    assert where(slow_and_fast(page(1), breaker=OPEN)) == [(1, 0, "now")]
