"""When pages may be tried again, as people are told: pure functions of a document's state."""

from collections.abc import Container
from datetime import UTC, datetime

from quire.domain.counts import counted
from workflows.document.page_state import PageState
from workflows.document.state import DocumentState

# A moment and the route that opens then: 0 where one may be tried now, "" where there is none.
Opening = tuple[float, str]


def next_try(state: DocumentState, page: PageState) -> Opening:
    """When a waiting page may be tried, and on which route."""
    opening = routes_open(state, page.page, page.barred)
    if not opening[1]:
        # They have all failed it in this round, and may be tried again in the next.
        opening = routes_open(state, page.page, page.barred_for_good)
    return max(page.not_before, opening[0]), opening[1]


def routes_open(state: DocumentState, number: int, barred: Container[int] = ()) -> Opening:
    """When the first of a page's routes ends its rest. Nobody waits for a last resort."""
    dispatch = state.pages.dispatch
    if dispatch is None:
        return 0.0, ""
    classification = state.pages.class_of(number)
    openings = (
        (max((b.retry_at for b in dispatch.health.of(route) if b.rests), default=0.0), route.key)
        for index, route in enumerate(dispatch.routes)
        if index not in barred and route.serves(classification) and not route.is_last_resort
    )
    return min(openings, default=(0.0, ""))


def waiting_for(state: DocumentState) -> tuple[str, ...]:
    """That all routes rest, and when the first comes back; nothing while a page is under way, or
    could be."""
    dispatch = state.pages.dispatch
    if dispatch is None or dispatch.flights or not dispatch.waiting:
        return ()
    until, route = min(next_try(state, dispatch.pages[number]) for number in dispatch.waiting)
    if not until:
        return ()
    reasons = ", ".join(dispatch.health.reasons())
    moment = datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return (
        f"{counted(len(dispatch.waiting), 'page')} wait: every route rests after failures "
        f"({reasons}); the first, {route}, may be tried again at {moment} UTC.",
    )
