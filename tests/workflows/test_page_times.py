"""How far a document is, and when a page was and may be tried."""

from datetime import UTC, datetime

from quire.contracts.codes import FailureKind
from quire.contracts.routing import Route
from quire.contracts.selection import Assignment, Deferral, Selection
from quire.contracts.status import PageRange, PageStatus
from tests.domain.strategies import NOW, failure
from tests.workflows.test_state import READ, begun, carried, next_run, plan
from workflows.document import queries
from workflows.document.state import DocumentState

ROUTES = (Route(provider="a", model="m"), Route(provider="b", model="m"))


def shown(state: DocumentState, number: int) -> PageStatus:
    (page,) = queries.pages(state, PageRange(first=number, last=number))
    return page


def at(seconds: float) -> str:
    return datetime.fromtimestamp(NOW + seconds, UTC).isoformat()


def start(state: DocumentState, page: int, route: int, seconds: float) -> None:
    dispatch = state.pages.require_dispatch()
    dispatch.apply(Selection(assign=(Assignment(page, route, 60.0),)))
    dispatch.note_attempt(page, NOW + seconds)


def fail(state: DocumentState, page: int, seconds: float, rest: float) -> None:
    dispatch = state.pages.require_dispatch()
    dispatch.failed(page, failure(FailureKind.RATE, rest), NOW + seconds)
    dispatch.note_attempt(page, NOW + seconds)


def test_percent_of_pages_and_all_only_at_the_end() -> None:
    state = begun("TSS", *ROUTES)
    assert queries.status(state).progress == 33.3
    for page in (2, 3):
        start(state, page, 0, 1)
        state.pages.require_dispatch().succeeded(page, READ, NOW + 1)
    assert queries.status(state).progress == 99.9, "the result is still to be written"
    state.close(timed_out=False, cancelled=False)
    state.complete(NOW + 9)
    assert queries.status(state).progress == 100.0
    assert queries.status(DocumentState("job", NOW)).progress == 0.0


def test_last_attempt_is_when_it_began_then_when_it_ended() -> None:
    state = begun("TS", *ROUTES)
    assert shown(state, 1).last_attempt_at is shown(state, 2).last_attempt_at is None
    start(state, 2, 0, 5)
    assert (shown(state, 2).last_attempt_at, shown(state, 2).retry_after) == (at(5), None)
    fail(state, 2, 7, rest=90)
    assert shown(state, 2).last_attempt_at == at(7)
    assert shown(state, 2).retry_after is None, "the other route may be tried"


def test_page_waits_for_its_round_and_for_the_first_of_its_routes() -> None:
    state = begun("SS", *ROUTES)
    for route, rest in ((0, 200), (1, 90)):
        start(state, 1, route, route)
        fail(state, 1, route, rest=rest)
    assert shown(state, 2).retry_after == at(91), "no route may be tried before"
    dispatch = state.pages.require_dispatch()
    dispatch.apply(Selection(defer=(Deferral(page=1, not_before=NOW + 300),)))
    assert shown(state, 1).retry_after == at(300)
    dispatch.apply(Selection(fall_back=(2,)))
    assert shown(state, 2).retry_after == at(91), "degraded: worth a retry from then on"


LAST = Route(provider="local", model="m", last_resort_for="scanned", degrades=True)


def test_a_document_whose_routes_all_rest_says_until_when() -> None:
    """A last resort, and a page that every route has failed, change nothing about it."""
    state = begun("SS", *ROUTES, LAST)
    assert queries.status(state).waiting_for == ()
    for route, rest in ((0, 200), (1, 90)):
        start(state, 1, route, route)
        assert queries.status(state).waiting_for == (), "a page is under way"
        fail(state, 1, route, rest=rest)
    (said,) = queries.status(state).waiting_for
    assert said == (
        "2 pages wait: every route rests after failures (RATE); the first, b:m, may be tried "
        f"again at {datetime.fromtimestamp(NOW + 91, UTC):%Y-%m-%d %H:%M:%S} UTC."
    )
    assert shown(state, 1).retry_after == shown(state, 2).retry_after == at(91)
    state.close(timed_out=True, cancelled=False)
    assert queries.status(state).waiting_for == ()


def test_times_of_waiting_pages_survive_a_next_run() -> None:
    state = begun("SS", *ROUTES)
    for route in (0, 1):
        start(state, 1, route, route)
        fail(state, 1, route, rest=90)
    before = shown(state, 1)
    assert before.last_attempt_at == at(1)
    after, _ = next_run(state, carried("SS", plan(*ROUTES)), text_only=False)
    assert shown(after, 1) == before
    start(after, 1, 0, 100)
    after.pages.require_dispatch().succeeded(1, READ, NOW + 101)
    after.pages.retry("1", NOW + 120)
    assert shown(after, 1).last_attempt_at == at(100), "also when it is read again"
