"""What a selection sees of a dispatch. Pure."""

from collections import Counter
from typing import TYPE_CHECKING

from quire.contracts.selection import FlightView, RouteView, Snapshot
from workflows.document.page_state import PageState

if TYPE_CHECKING:
    from workflows.document.dispatch import DispatchState

# A selection looks at the pages that could start now and a few more; the rest can wait unseen.
PAGES_IN_VIEW = 64  # of each sort


def take_snapshot(dispatch: "DispatchState", now: float) -> Snapshot:
    """All that a selection looks at."""
    load, adaptive = dispatch.flights.load(), dispatch.adaptive
    return Snapshot(
        job_id=dispatch.job_id,
        now=now,
        deadline=dispatch.deadline,
        in_flight=dispatch.flights.count,
        policy=dispatch.policy,
        routes=tuple(
            RouteView(
                route=route,
                breaker=dispatch.health.of(route)[0],
                provider_breaker=dispatch.health.of(route)[1],
                in_flight=load[index],
                crowded_until=dispatch.crowds[index].until,
                answered=index in dispatch.answered,
                latencies=dispatch.times.of(index) if adaptive else (),
                workers=dispatch.fleet.workers(index),
            )
            for index, route in enumerate(dispatch.routes)
        ),
        pages=tuple(page.view() for page in _in_view(dispatch, now)),
        adaptive=adaptive,
        waiting=len(dispatch.waiting) if adaptive else 0,
        flights=_flights(dispatch) if adaptive else (),
        hedges_left=dispatch.times.hedges_left(len(dispatch.pages)) if adaptive else 0,
    )


def _in_view(dispatch: "DispatchState", now: float) -> list[PageState]:
    """The first pages of each sort that may start now, and the one that may start next.

    A sort is what a page may try: pages that wait for one route must not hide others.
    """
    seen: Counter[tuple[object, ...]] = Counter()
    ready, later = list[PageState](), list[PageState]()
    for page in (dispatch.pages[number] for number in dispatch.waiting):
        sort = (page.classification, *sorted(page.barred))
        if page.not_before > now:
            later.append(page)
        elif seen[sort] < PAGES_IN_VIEW:
            ready.append(page)
            seen[sort] += 1
    return ready + sorted(later, key=lambda page: (page.not_before, page.page))[:1]


def _flights(dispatch: "DispatchState") -> tuple[FlightView, ...]:
    return tuple(
        FlightView(
            page=number,
            route=flight.route,
            since=flight.since,
            barred=tuple(sorted(dispatch.pages[number].barred_for_good)),
            hedged=number in dispatch.flights.hedges,
        )
        for number, flight in dispatch.flights.every()
    )
