"""The books of one document: what each event does to a page, its routes and its record."""

import pytest

from quire.contracts.carried import CarriedDispatch
from quire.contracts.codes import Code, FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import AttemptNote, Classification, PageRecord, TextSource
from quire.contracts.routing import BreakerPolicy, BreakerState, DispatchPolicy, Route
from quire.contracts.selection import Assignment, Deferral, Selection
from quire.contracts.steps import AttemptReceipt
from quire.domain.document.attempts import CANCELLED, DEADLINE
from quire.domain.errors import MEANING
from quire.domain.routing.selection import select
from tests.domain.simulator import TOO_LATE
from tests.domain.strategies import KINDS, NOW, OCR_INSTEAD, failure
from workflows.document.crowd import CROWDED_AT_MOST_S, CROWDED_FOR_S, STOOD_DOWN_FOR_S
from workflows.document.dispatch import DispatchState
from workflows.document.snapshot import PAGES_IN_VIEW

A_M = Route(provider="a", model="m")
A_N = Route(provider="a", model="n")
B_M = Route(provider="b", model="m")
LOCAL = Route(provider=LOCAL_PROVIDER, model="rapidocr", limit=1, last_resort_for="every_page")
READ = AttemptReceipt(milliseconds=7, chars=3)
STORED = READ.model_copy(update={"stored": True})


def books(
    *routes: Route,
    pages: int = 3,
    breaker: BreakerPolicy | None = None,
    policy: DispatchPolicy | None = None,
) -> DispatchState:
    return DispatchState(
        job_id="job",
        routes=routes,
        dispatch=policy or DispatchPolicy(),
        breaker=breaker or BreakerPolicy(),
        deadline=NOW + 180,
        vision=dict.fromkeys(range(1, pages + 1), Classification.SCANNED),
    )


def start(dispatch: DispatchState, page: int, route: int, seconds: float = 60.0) -> None:
    dispatch.apply(Selection(assign=(Assignment(page, route, seconds),)))


def states(dispatch: DispatchState) -> dict[str, str]:
    return {
        key: breaker.state.value
        for key, breaker in dispatch.health.breakers.items()
        if breaker.state is not BreakerState.CLOSED
    }


@pytest.mark.parametrize("kind", KINDS)
def test_failure_bars_what_its_meaning_says(kind: FailureKind) -> None:
    dispatch = books(A_M, A_N, B_M)
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(kind), NOW)
    expected = {"route": [0], "provider": [0, 1], "every_route": [0, 1, 2]}[MEANING[kind].bars]
    page = dispatch.pages[1]
    assert sorted(page.barred) == expected
    terminal = MEANING[kind].error_type == "terminal"
    assert sorted(page.barred_for_good) == (expected if terminal else [])
    assert dispatch.waiting == [1, 2, 3]
    assert not dispatch.flights
    assert page.error is not None
    assert (page.error.code, page.error.error_type) == MEANING[kind][:2]


@pytest.mark.parametrize("kind", KINDS)
def test_failure_trips_what_its_meaning_says(kind: FailureKind) -> None:
    dispatch = books(A_M, A_N, B_M)
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(kind), NOW)
    trips = MEANING[kind].trips
    tripped = {"route": {"a:m": "open"}, "provider": {"a": "open"}}
    assert states(dispatch) == (tripped[trips] if trips else {})
    if trips:
        breaker = dispatch.health.breakers["a:m" if trips == "route" else "a"]
        rest = 3600.0 if MEANING[kind].rests == "long" else 30.0
        assert breaker.retry_at == NOW + rest
        assert breaker.reason == kind.value


def test_timeout_in_a_hurry_of_ours_is_not_counted() -> None:
    dispatch = books(A_M)
    start(dispatch, 1, 0, seconds=29.0)
    dispatch.failed(1, failure(FailureKind.TIMEOUT), NOW)
    assert states(dispatch) == {}
    start(dispatch, 2, 0, seconds=30.0)
    dispatch.failed(2, failure(FailureKind.TIMEOUT), NOW)
    assert states(dispatch) == {"a:m": "open"}


def probing(dispatch: DispatchState, *, provider: bool) -> None:
    """Page 2 is the probe of route 0 after page 1 failed there."""
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.CONNECT if provider else FailureKind.SERVER), NOW)
    probe = Assignment(2, 0, 60.0, "probe")
    dispatch.apply(Selection(assign=(probe,)))


@pytest.mark.parametrize("provider", [True, False])
@pytest.mark.parametrize("crowded", [True, False])
def test_lost_probe_frees_its_place(provider: bool, crowded: bool) -> None:
    dispatch = books(A_M)
    probing(dispatch, provider=provider)
    key = "a" if provider else "a:m"
    assert states(dispatch) == {key: "half_open"}
    dispatch.stood_aside(2, NOW + 40, crowded=crowded)
    assert states(dispatch) == {key: "open"}
    selection = select(dispatch.snapshot(NOW + 60))
    assert [a.how for a in selection.assign if a.route == 0] == ["probe"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("provider", [True, False])
def test_no_failed_probe_leaves_a_breaker_half_open(kind: FailureKind, provider: bool) -> None:
    dispatch = books(A_M, A_N)
    probing(dispatch, provider=provider)
    dispatch.failed(2, failure(kind), NOW + 40)
    assert BreakerState.HALF_OPEN.value not in states(dispatch).values()


@pytest.mark.parametrize("provider", [True, False])
def test_probe_that_is_answered_closes(provider: bool) -> None:
    dispatch = books(A_M)
    probing(dispatch, provider=provider)
    dispatch.succeeded(2, READ, 0.0)
    assert states(dispatch) == {}


@pytest.mark.parametrize("provider", [True, False])
@pytest.mark.parametrize("kind", [FailureKind.BUG, FailureKind.RENDER, FailureKind.STORAGE])
def test_probe_that_failed_on_our_side_closes_nothing(kind: FailureKind, provider: bool) -> None:
    dispatch = books(A_M)
    probing(dispatch, provider=provider)
    dispatch.failed(2, failure(kind), NOW + 40)
    assert states(dispatch) == {"a" if provider else "a:m": "open"}


@pytest.mark.parametrize("provider", [True, False])
def test_stored_answer_is_no_sign_of_life(provider: bool) -> None:
    dispatch = books(A_M)
    probing(dispatch, provider=provider)
    dispatch.succeeded(2, STORED, 0.0)
    assert states(dispatch) == {"a" if provider else "a:m": "open"}
    assert dispatch.answered == set()
    assert dispatch.records[2].source is TextSource.AI
    assert dispatch.records[2].attempts == (AttemptNote(0, "ok", 7),)
    # The probe's place is free: the next page asks the vendor itself.
    selection = select(dispatch.snapshot(NOW + 60))
    assert [(a.page, a.how) for a in selection.assign] == [(3, "probe")]


def test_stored_answer_slides_no_failure_out_of_the_window() -> None:
    window = BreakerPolicy(trip="window", window=2, threshold=1.0)
    dispatch = books(A_M, pages=5, breaker=window)
    for page, end in ((1, None), (2, STORED), (3, STORED), (4, None)):
        start(dispatch, page, 0)
        if end:
            dispatch.succeeded(page, end, 0.0)
        else:
            dispatch.failed(page, failure(FailureKind.SERVER), NOW)
    assert states(dispatch) == {"a:m": "open"}


def test_stored_answer_ends_no_crowd() -> None:
    dispatch = books(A_M)
    start(dispatch, 1, 0)
    start(dispatch, 2, 0)
    dispatch.stood_aside(1, NOW, crowded=True)
    dispatch.succeeded(2, STORED, 0.0)
    assert dispatch.crowds[0].until == NOW + CROWDED_FOR_S


def test_failed_probe_of_a_provider_reached_closes_it_and_opens_the_route() -> None:
    dispatch = books(A_M, A_N)
    probing(dispatch, provider=True)
    dispatch.failed(2, failure(FailureKind.RATE), NOW + 40)
    assert states(dispatch) == {"a:m": "open"}


def test_attempts_of_the_past_move_nothing() -> None:
    dispatch = books(A_M)
    for page in (1, 2):
        start(dispatch, page, 0)
    dispatch.failed(1, failure(FailureKind.SERVER), NOW)
    before = dict(dispatch.health.breakers)
    dispatch.failed(2, failure(FailureKind.SERVER, 900.0), NOW + 20)
    assert dispatch.health.breakers == before


def test_read_page_is_recorded_and_forgives_its_errors() -> None:
    dispatch = books(A_M, B_M)
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.OUTPUT), NOW)
    start(dispatch, 1, 1)
    dispatch.succeeded(1, READ, 0.0)
    record = dispatch.records[1]
    assert record.source is TextSource.AI
    assert record.read_by == 1
    assert record.error is None
    assert [note.outcome for note in record.attempts] == ["OUTPUT", "ok"]


def test_local_engine_is_told_apart() -> None:
    dispatch = books(A_M, LOCAL)
    start(dispatch, 1, 1)
    dispatch.succeeded(1, READ, 0.0)
    assert dispatch.records[1].source is TextSource.OCR


def read_instead(dispatch: DispatchState, now: float = NOW) -> PageRecord:
    """The vendor fails page 1, and the local engine reads it."""
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.CONTENT), now)
    start(dispatch, 1, 1)
    dispatch.succeeded(1, READ, now)
    return dispatch.records[1]


def test_local_engine_in_the_place_of_vendors_degrades_the_page() -> None:
    record = read_instead(books(A_M, OCR_INSTEAD))
    assert record.source is TextSource.OCR_FALLBACK
    assert record.source.degraded
    assert record.read_by == 1, "its text is the engine's answer"
    assert record.error is not None
    assert record.error.error == failure(FailureKind.CONTENT).message, "why it is degraded"
    # A plan from before says nothing of it: such a document goes on as it began.
    before = OCR_INSTEAD.model_copy(update={"degrades": False})
    assert read_instead(books(A_M, before)).source is TextSource.OCR


def test_page_that_was_never_tried_says_what_keeps_its_vendors_away() -> None:
    dispatch = books(A_M, OCR_INSTEAD)
    start(dispatch, 2, 0)
    dispatch.failed(2, failure(FailureKind.AUTH), NOW)
    start(dispatch, 1, 1)
    dispatch.succeeded(1, READ, NOW)
    error = dispatch.records[1].error
    assert error is not None
    assert "AUTH" in error.error


@pytest.mark.parametrize("end", ["vendor", "engine", "deadline"])
def test_page_read_by_the_engine_is_tried_at_vendors_again(end: str) -> None:
    """What the engine read stands in the store under the same take, and in the record until a
    vendor's model reads the page."""
    dispatch = books(A_M, OCR_INSTEAD, pages=1)
    before = read_instead(dispatch)
    dispatch.read_again(before, Classification.SCANNED, NOW)
    if end == "vendor":
        start(dispatch, 1, 0)
        dispatch.succeeded(1, READ, NOW)
        assert dispatch.records[1].source is TextSource.AI
        assert dispatch.records[1].error is None
    elif end == "engine":
        again = read_instead(dispatch)
        assert again.source is TextSource.OCR_FALLBACK
        assert len(again.attempts) == 4, "what was tried now is in it"
    else:
        dispatch.stop(TextSource.MUPDF_TIMEOUT_FALLBACK, DEADLINE, TOO_LATE)
        assert dispatch.records[1] == before
    assert dispatch.records[1].take == 0


def test_a_models_text_is_worth_more_than_the_engines() -> None:
    dispatch = books(A_M, OCR_INSTEAD, pages=1)
    before = read_twice(dispatch)
    read_instead(dispatch)
    assert dispatch.records == {1: before}


def test_fallback_keeps_the_last_error() -> None:
    dispatch = books(A_M)
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.CONTENT), NOW)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert 1 in dispatch.records
    record = dispatch.records[1]
    assert record.source is TextSource.MUPDF_FALLBACK
    assert record.read_by is None
    assert record.error is not None
    assert record.error.code is Code.GW_4XX


def test_fallback_of_an_untried_page_says_why() -> None:
    without = books(pages=1)
    without.apply(select(without.snapshot(NOW)))
    error = without.records[1].error
    assert error is not None
    assert "configured" in error.error
    resting = books(A_M, pages=2)
    start(resting, 1, 0)
    resting.failed(1, failure(FailureKind.SERVER), NOW)
    resting.apply(select(resting.snapshot(NOW)))
    error = resting.records[2].error
    assert error is not None
    assert "SERVER" in error.error


def why_untried(*ends: tuple[int, FailureKind], routes: tuple[Route, ...]) -> tuple[Code, str]:
    """The error of the last page, which nobody tried, after these failures of the others."""
    dispatch = books(*routes, pages=len(ends) + 1)
    for page, (route, kind) in enumerate(ends, start=1):
        start(dispatch, page, route)
        dispatch.failed(page, failure(kind), NOW)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    record = dispatch.records[len(ends) + 1]
    assert record.source is TextSource.MUPDF_FALLBACK
    assert record.attempts == ()
    assert record.error is not None
    return record.error.code, record.error.error_type


@pytest.mark.parametrize("kind", [kind for kind in KINDS if MEANING[kind].trips])
def test_untried_page_has_the_code_of_what_keeps_its_route_away(kind: FailureKind) -> None:
    assert why_untried((0, kind), routes=(A_M,)) == MEANING[kind][:2]


@pytest.mark.parametrize("dead", [FailureKind.AUTH, FailureKind.QUOTA, FailureKind.MODEL])
@pytest.mark.parametrize("alive", [FailureKind.SERVER, FailureKind.TIMEOUT, FailureKind.RATE])
def test_reason_that_may_heal_is_told_first(dead: FailureKind, alive: FailureKind) -> None:
    reason = why_untried((0, dead), (1, alive), routes=(A_M, B_M))
    assert reason == (MEANING[alive].code, "retryable")
    assert why_untried((0, alive), (1, dead), routes=(A_M, B_M)) == reason


def test_page_without_any_route_cannot_be_helped_by_waiting() -> None:
    assert why_untried(routes=()) == (Code.GW_4XX, "terminal")


def test_stop_leaves_nothing_and_tells_what_was_under_way() -> None:
    dispatch = books(A_M)
    start(dispatch, 1, 0)
    start(dispatch, 2, 0)
    dispatch.succeeded(2, READ, 0.0)
    dispatch.stop(TextSource.MUPDF_TIMEOUT_FALLBACK, DEADLINE, TOO_LATE)
    assert dispatch.finished
    assert [dispatch.records[n].source for n in (1, 2, 3)] == [
        TextSource.MUPDF_TIMEOUT_FALLBACK,
        TextSource.AI,
        TextSource.MUPDF_TIMEOUT_FALLBACK,
    ]
    assert [note.outcome for note in dispatch.records[1].attempts] == [DEADLINE]
    assert dispatch.records[3].attempts == ()
    assert dispatch.records[1].error == dispatch.records[3].error == TOO_LATE
    assert dispatch.records[2].error is None
    before = dict(dispatch.records)
    dispatch.stop(TextSource.MUPDF_FALLBACK, CANCELLED, TOO_LATE)
    assert dispatch.records == before


def test_page_read_again_waits_as_if_new_and_open_breakers_may_be_probed() -> None:
    dispatch = books(A_M)
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.CONTENT), NOW)
    start(dispatch, 2, 0)
    dispatch.failed(2, failure(FailureKind.AUTH), NOW)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert dispatch.finished
    dispatch.read_again(dispatch.records[1], Classification.SCANNED, NOW + 1)
    assert dispatch.waiting == [1]
    assert sorted(dispatch.records) == [2, 3]
    page = dispatch.pages[1]
    assert (page.barred, page.barred_for_good, page.round, page.take) == ([], [], 0, 0)
    assert (page.error, page.earlier) == (None, None)
    assert [note.outcome for note in page.attempts] == ["CONTENT"]
    selection = select(dispatch.snapshot(NOW + 1))
    assert [(a.page, a.how) for a in selection.assign] == [(1, "probe")]
    dispatch.apply(selection)
    dispatch.succeeded(1, READ, 0.0)
    assert dispatch.records[1].take == 0, "no answer is stored that could be found"
    assert dispatch.records[1].error is None
    assert states(dispatch) == {}


@pytest.mark.parametrize(
    ("source", "take"),
    [
        (TextSource.AI, 3),
        (TextSource.OCR, 3),
        (TextSource.OCR_FALLBACK, 2),
        (TextSource.MUPDF, 2),
        (TextSource.MUPDF_FALLBACK, 2),
        (TextSource.MUPDF_TIMEOUT_FALLBACK, 2),
    ],
)
def test_page_that_a_model_had_read_gets_a_take_of_its_own(source: TextSource, take: int) -> None:
    dispatch = books(A_M, pages=1)
    dispatch.waiting.clear()
    before = PageRecord(page=1, source=source, attempts=(AttemptNote(0, "ok", 5),), take=2)
    dispatch.read_again(before, Classification.SCANNED, NOW)
    ((_, flight),) = dispatch.apply(select(dispatch.snapshot(NOW)))
    assert flight.take == take
    dispatch.succeeded(1, READ, 0.0)
    assert dispatch.records[1].take == take
    assert [note.milliseconds for note in dispatch.records[1].attempts] == [5, 7]


def test_answer_that_the_other_attempt_found_is_paid_for_once() -> None:
    dispatch = books(A_M, B_M, pages=1)
    paid = READ.model_copy(update={"paid": Paid(1, 2, 3)})
    start(dispatch, 1, 0)
    dispatch.succeeded(1, paid, 0.0)
    found = paid.model_copy(update={"stored": True, "read_by": 0})
    assert not dispatch.read_twice(1, found, route=1)
    assert not dispatch.read_twice(1, paid, route=0)
    assert dispatch.records[1].wasted == NOTHING
    assert dispatch.read_twice(1, paid, route=1)
    assert dispatch.records[1].wasted == paid.paid


def read_twice(dispatch: DispatchState) -> PageRecord:
    """Page 1 was read, and waits to be read again."""
    start(dispatch, 1, 0)
    dispatch.succeeded(1, READ, 0.0)
    before = dispatch.records[1]
    dispatch.read_again(before, Classification.SCANNED, NOW)
    assert 1 not in dispatch.records
    return before


def test_good_page_that_cannot_be_read_again_stays_as_it_was() -> None:
    dispatch = books(A_M, pages=1)
    before = read_twice(dispatch)
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.CONTENT), NOW)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert dispatch.finished
    assert dispatch.records == {1: before}


@pytest.mark.parametrize("under_way", [True, False])
@pytest.mark.parametrize("source", [TextSource.MUPDF_FALLBACK, TextSource.MUPDF_TIMEOUT_FALLBACK])
def test_good_page_that_there_is_no_time_for_stays_as_it_was(
    source: TextSource, under_way: bool
) -> None:
    dispatch = books(A_M, pages=2)
    before = read_twice(dispatch)
    if under_way:
        start(dispatch, 1, 0)
    dispatch.stop(source, DEADLINE, TOO_LATE)
    assert dispatch.records[1] == before
    assert dispatch.records[2].source is source


def test_good_page_that_is_read_again_is_the_new_one() -> None:
    dispatch = books(A_M, pages=1)
    before = read_twice(dispatch)
    start(dispatch, 1, 0)
    dispatch.succeeded(1, READ, 0.0)
    assert dispatch.records[1].take == before.take + 1
    assert len(dispatch.records[1].attempts) == 2


def test_page_moves_from_route_to_route_within_one_reading() -> None:
    """A manual retry that goes elsewhere is a person's request and no failover."""
    dispatch = books(A_M, B_M, pages=1)
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.SERVER), NOW)
    assert dispatch.pages[1].moved is None
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.SERVER), NOW)
    assert dispatch.pages[1].moved is None, "tried again where it was"
    dispatch.stop(TextSource.MUPDF_FALLBACK, CANCELLED, TOO_LATE)
    dispatch.read_again(dispatch.records[1], Classification.SCANNED, NOW)
    start(dispatch, 1, 1)
    dispatch.failed(1, failure(FailureKind.SERVER), NOW)
    assert dispatch.pages[1].moved is None, "the first attempt of another reading"
    start(dispatch, 1, 0)
    dispatch.succeeded(1, READ, 0.0)
    assert dispatch.pages[1].moved == (1, 0)


def test_good_page_survives_a_next_run() -> None:
    dispatch = books(A_M, pages=1)
    before = read_twice(dispatch)
    carried = CarriedDispatch.model_validate_json(dispatch.carry().model_dump_json())
    going_on = DispatchState(
        job_id="job",
        routes=dispatch.routes,
        dispatch=dispatch.policy,
        breaker=BreakerPolicy(),
        deadline=dispatch.deadline,
        vision={1: Classification.SCANNED},
        carried=carried,
    )
    assert going_on.pages == dispatch.pages
    going_on.stop(TextSource.MUPDF_FALLBACK, CANCELLED, TOO_LATE)
    assert going_on.records == {1: before}


# --- what a selection is shown ----------------------------------------------------------------


def test_view_is_of_pages_that_are_ready_and_the_one_that_is_next() -> None:
    dispatch = books(A_M, pages=200)
    for number in range(1, 101):
        dispatch.pages[number].not_before = NOW + 9 + abs(number - 70)
    seen = [page.page for page in dispatch.snapshot(NOW).pages]
    assert seen == [*range(101, 101 + PAGES_IN_VIEW), 70]
    seen = [page.page for page in dispatch.snapshot(NOW + 9).pages]
    assert seen == [70, *range(101, 100 + PAGES_IN_VIEW), 69], "its time has come; 69 is next"
    assert len(dispatch.snapshot(NOW + 999).pages) == PAGES_IN_VIEW


def test_view_of_pages_that_all_wait_has_one_to_wake_for() -> None:
    dispatch = books(A_M, pages=100)
    for number in dispatch.waiting:
        dispatch.pages[number].not_before = NOW + 200 - number
    snapshot = dispatch.snapshot(NOW)
    assert [page.page for page in snapshot.pages] == [100]
    assert select(snapshot) == Selection(wake_at=NOW + 100)


def test_carried_dispatch_goes_on_where_it_was() -> None:
    dispatch = books(A_M, A_N, B_M, policy=DispatchPolicy(mode="hold"))
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.SERVER), NOW)
    start(dispatch, 2, 2)
    dispatch.failed(2, failure(FailureKind.CONTENT), NOW)
    start(dispatch, 3, 1)
    dispatch.succeeded(3, READ, 0.0)
    dispatch.apply(Selection(defer=(Deferral(page=1, not_before=NOW + 9),)))
    carried = CarriedDispatch.model_validate_json(dispatch.carry().model_dump_json())
    going_on = DispatchState(
        job_id="job",
        routes=dispatch.routes,
        dispatch=dispatch.policy,
        breaker=BreakerPolicy(),
        deadline=dispatch.deadline,
        vision=dict.fromkeys(dispatch.waiting, Classification.SCANNED),
        carried=carried,
    )
    assert going_on.snapshot(NOW + 1) == dispatch.snapshot(NOW + 1)
    assert going_on.pages[1] == dispatch.pages[1]
    assert going_on.pages[2] == dispatch.pages[2]


def test_deferral_lifts_all_but_what_is_barred_for_good() -> None:
    dispatch = books(A_M, A_N, B_M, policy=DispatchPolicy(mode="hold"))
    start(dispatch, 1, 0)
    dispatch.failed(1, failure(FailureKind.SERVER), NOW)
    start(dispatch, 1, 2)
    dispatch.failed(1, failure(FailureKind.CONTENT), NOW)
    dispatch.apply(Selection(defer=(Deferral(page=1, not_before=NOW + 9),)))
    page = dispatch.pages[1]
    assert (page.round, page.not_before, page.barred) == (1, NOW + 9, [2])
    assert dispatch.waiting == [1, 2, 3]


def test_crowd_doubles_while_it_lasts_and_ends_with_an_answer() -> None:
    dispatch = books(A_M, pages=20)
    now, rests = NOW, []
    for _ in range(8):
        start(dispatch, 1, 0)
        dispatch.stood_aside(1, now, crowded=True)
        rests.append(dispatch.crowds[0].until - now)
        now = dispatch.crowds[0].until
    assert rests == [min(CROWDED_FOR_S * 2**n, CROWDED_AT_MOST_S) for n in range(8)]
    start(dispatch, 2, 0)
    dispatch.succeeded(2, READ, 0.0)
    assert dispatch.crowds[0].strikes == 0
    assert dispatch.crowds[0].until <= now


def test_herd_standing_aside_counts_once() -> None:
    dispatch = books(A_M, pages=4)
    for page in (1, 2):
        start(dispatch, page, 0)
    for page in (1, 2):
        dispatch.stood_aside(page, NOW, crowded=True)
    assert dispatch.crowds[0].until == NOW + CROWDED_FOR_S
    assert dispatch.crowds[0].strikes == 1


def test_standing_down_is_a_short_rest_and_no_attempt() -> None:
    dispatch = books(A_M)
    start(dispatch, 1, 0)
    dispatch.stood_aside(1, NOW, crowded=False)
    assert dispatch.crowds[0].until == NOW + STOOD_DOWN_FOR_S
    assert dispatch.pages[1].attempts == []
    assert dispatch.pages[1].barred == []


def test_selection_is_wanted_only_when_it_can_change_something() -> None:
    dispatch = books(A_M, pages=8, policy=DispatchPolicy(window=4))
    assert dispatch.wants_selection()
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert not dispatch.wants_selection(), "every slot is taken and nothing has answered"
    dispatch.succeeded(1, READ, 0.0)
    assert dispatch.wants_selection()
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert len(dispatch.flights) == 4, "two read, two are queued behind them"
    assert not dispatch.wants_selection(), "the window is full"
    dispatch.succeeded(2, READ, 0.0)
    assert not dispatch.wants_selection(), "one page is still queued behind the slots"
    dispatch.succeeded(3, READ, 0.0)
    assert dispatch.wants_selection()


def test_selection_is_wanted_before_what_workers_take_up_ahead_runs_out() -> None:
    route = Route(provider="a", model="m", limit=2, ahead=1)
    dispatch = books(route, pages=12)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    dispatch.succeeded(1, READ, 0.0)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert len(dispatch.flights) == 5, "two read, one is drawn ahead, two are queued"
    dispatch.succeeded(2, READ, 0.0)
    assert not dispatch.wants_selection()
    dispatch.succeeded(3, READ, 0.0)
    assert dispatch.wants_selection(), "none is queued for the place of the one drawn ahead"


@pytest.mark.parametrize("end", ["failed", "crowded", "stood down"])
def test_attempt_without_an_answer_calls_for_one_selection(end: str) -> None:
    """Even while every slot is taken: its page may be at its end, or go elsewhere."""
    slow = Route(provider="a", model="m", limit=1), Route(provider="b", model="m", limit=1)
    dispatch = books(*slow, pages=9)
    start(dispatch, 1, 0)
    dispatch.succeeded(1, READ, 0.0)
    for page, route in ((2, 0), (3, 0), (4, 1)):
        start(dispatch, page, route)
    assert not dispatch.wants_selection()
    if end == "failed":
        dispatch.failed(2, failure(FailureKind.SERVER), NOW)
    else:
        dispatch.health.failed(
            slow[0], (0, 0), failure(FailureKind.SERVER), 60.0, NOW
        )  # by an attempt that was reported before
        dispatch.stood_aside(2, NOW, crowded=end == "crowded")
    assert dispatch.wants_selection()
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert not dispatch.wants_selection(), "once is enough"


def test_no_selection_is_wanted_in_a_full_window_whatever_happens() -> None:
    dispatch = books(A_M, pages=9, policy=DispatchPolicy(window=1))
    start(dispatch, 1, 0)
    dispatch.disturbed = True
    assert not dispatch.wants_selection()


def test_no_selection_is_wanted_when_nothing_waits() -> None:
    dispatch = books(A_M, pages=1)
    start(dispatch, 1, 0)
    assert not dispatch.wants_selection()
    dispatch.succeeded(1, READ, 0.0)
    assert dispatch.finished
    assert not dispatch.wants_selection()


# --- what was paid -------------------------------------------------------------------------

BOUGHT = READ.model_copy(update={"paid": Paid(100, 20, 500)})
REFUSED = failure(FailureKind.CONTENT).model_copy(update={"wasted": Paid(100, 1, 90)})
CUT_OFF = failure(FailureKind.OUTPUT).model_copy(update={"wasted": Paid(300, 80, 900)})


def test_attempts_in_vain_stand_on_the_page_whoever_reads_it_at_last() -> None:
    dispatch = books(A_M, A_N, B_M, pages=2)
    for page in (1, 2):
        start(dispatch, page, 0)
        dispatch.failed(page, CUT_OFF, NOW)
        start(dispatch, page, 1)
        dispatch.failed(page, REFUSED, NOW)
    start(dispatch, 1, 2)
    dispatch.succeeded(1, BOUGHT, 0.0)
    dispatch.stop(TextSource.MUPDF_FALLBACK, CANCELLED, TOO_LATE)
    assert [record.wasted for record in dispatch.records.values()] == [Paid(400, 81, 990)] * 2
    assert not dispatch.records[1].reused


def test_waiting_page_carries_what_it_has_cost() -> None:
    dispatch = books(A_M, B_M, pages=1)
    start(dispatch, 1, 0)
    dispatch.failed(1, REFUSED, NOW)
    (carried,) = dispatch.carry().pages
    assert carried.wasted == REFUSED.wasted
    again = DispatchState(
        job_id="job",
        routes=(A_M, B_M),
        dispatch=DispatchPolicy(),
        breaker=BreakerPolicy(),
        deadline=NOW + 180,
        vision={1: Classification.SCANNED},
        carried=dispatch.carry(),
    )
    start(again, 1, 1)
    again.succeeded(1, BOUGHT, 0.0)
    assert again.records[1].wasted == REFUSED.wasted


def test_answer_of_another_run_is_marked_and_one_that_came_too_late_was_in_vain() -> None:
    dispatch = books(A_M, pages=2)
    start(dispatch, 1, 0)
    dispatch.succeeded(1, STORED.model_copy(update={"reused": True}), 0.0)
    start(dispatch, 2, 0)
    beaten = READ.model_copy(update={"reused": True, "wasted": Paid(100, 20, 500)})
    dispatch.succeeded(2, beaten, 0.0)
    assert [(r.reused, r.wasted) for r in dispatch.records.values()] == [
        (True, NOTHING),
        (True, Paid(100, 20, 500)),
    ]


def test_page_read_again_on_request_cost_both_readings() -> None:
    dispatch = books(A_M, pages=1)
    start(dispatch, 1, 0)
    dispatch.succeeded(1, BOUGHT, 0.0)
    for earlier in (1, 2):
        dispatch.read_again(dispatch.records[1], Classification.SCANNED, NOW)
        start(dispatch, 1, 0)
        dispatch.succeeded(1, BOUGHT, 0.0)
        assert dispatch.records[1].wasted == Paid(100 * earlier, 20 * earlier, 500 * earlier)


def test_reading_that_stands_is_counted_once_and_the_failed_attempt_with_it() -> None:
    dispatch = books(A_M, pages=1)
    start(dispatch, 1, 0)
    dispatch.succeeded(1, BOUGHT, 0.0)
    before = dispatch.records[1]
    dispatch.read_again(before, Classification.SCANNED, NOW)
    start(dispatch, 1, 0)
    dispatch.failed(1, REFUSED, NOW)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert dispatch.records[1] == before.model_copy(update={"wasted": REFUSED.wasted})


@pytest.mark.parametrize(
    ("attempted", "read_by", "source"), [(0, 1, TextSource.OCR), (1, 0, TextSource.AI)]
)
def test_page_taken_over_from_another_route_says_so(
    attempted: int, read_by: int, source: TextSource
) -> None:
    """What a replaced run had read elsewhere must not pass for this route's work."""
    dispatch = books(A_M, LOCAL)
    start(dispatch, 1, attempted)
    dispatch.succeeded(1, STORED.model_copy(update={"read_by": read_by}), NOW)
    record = dispatch.records[1]
    assert (record.read_by, record.source) == (read_by, source)
