"""What becomes of a page that no vendor's route takes now."""

from typing import Any

import pytest

from quire.contracts.page import Classification
from quire.contracts.routing import DispatchPolicy, Route
from quire.contracts.selection import PageView, RouteView, Snapshot
from quire.domain.routing.fallback import AnotherRound, FallBack, WaitForRoute, when_exhausted

NOW, DEADLINE = 100.0, 200.0
HOLD = DispatchPolicy(mode="hold", max_rounds=3, base_delay_s=10.0, jitter_max_s=0.0)


def fate(policy: DispatchPolicy, vendors: list[int], opens: float = 0.0, **page: Any) -> object:
    view = PageView(page=1, classification=Classification.SCANNED, **page)
    routes = tuple(RouteView(route=Route(provider=name, model="m")) for name in ("one", "two"))
    snapshot = Snapshot(
        job_id="job",
        now=NOW,
        deadline=DEADLINE,
        in_flight=0,
        policy=policy,
        routes=routes,
        pages=(view,),
    )
    return when_exhausted(snapshot, view, vendors, lambda _: opens)


@pytest.mark.parametrize(
    ("vendors", "opens", "page", "expected"),
    [
        ([0, 1], 150.0, {}, WaitForRoute(150.0)),
        ([0, 1], DEADLINE, {}, FallBack()),
        ([], 0.0, {"barred": (0, 1)}, AnotherRound(NOW + 10)),
        ([], 0.0, {"barred": (0, 1), "round": 1}, AnotherRound(NOW + 20)),
        ([], 170.0, {"barred": (0, 1)}, AnotherRound(170.0)),
        ([], DEADLINE, {"barred": (0, 1)}, FallBack()),
        ([], 0.0, {"barred": (0, 1), "round": 2}, FallBack()),
        ([], 0.0, {"barred": (0, 1), "barred_for_good": (0, 1)}, FallBack()),
    ],
)
def test_in_hold_mode_a_page_waits_while_waiting_can_help(
    vendors: list[int], opens: float, page: dict[str, Any], expected: object
) -> None:
    assert fate(HOLD, vendors, opens, **page) == expected


def test_by_default_it_falls_back_at_once() -> None:
    assert fate(DispatchPolicy(), [0, 1], 150.0) == FallBack()
