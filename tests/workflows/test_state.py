"""The progress contract holds at every moment of every document."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.carried import Carried
from quire.contracts.codes import Code, ErrorInfo, FailureKind
from quire.contracts.page import AttemptNote, Classification, PageRecord, TextSource
from quire.contracts.plan import DocumentPlan
from quire.contracts.reading import ReadingOptions
from quire.contracts.routing import BreakerPolicy, Chain, DispatchPolicy, Route
from quire.contracts.status import DocumentStatus, PageRange
from quire.contracts.steps import AttemptReceipt, DocumentReceipt
from quire.domain.document.attempts import OK
from quire.domain.routing.selection import select
from tests.domain.simulator import CROWDED, STOOD_DOWN, STORED, Outcome, Simulation
from tests.domain.strategies import (
    KINDS,
    NOW,
    breaker_policies,
    chains,
    dispatch_policies,
    failure,
    quarters,
    quick,
)
from workflows.document import queries
from workflows.document.state import DocumentState

REFUSED = ErrorInfo(
    code=Code.NOT_PDF,
    reason="NOT_PDF",
    error_type="terminal",
    message="It is not a PDF.",
    remedy="Give a PDF.",
)


def plan(*routes: Route, left_out: tuple[str, ...] = (), seconds: float = 60.0) -> DocumentPlan:
    return DocumentPlan(
        chain=Chain(routes=routes, left_out=left_out),
        deadline_s=seconds,
        breaker=BreakerPolicy(base_backoff_s=3.0),
        dispatch=DispatchPolicy(),
        reading=ReadingOptions(system_prompt="read"),
        every_page=False,
    )


def begun(classes: str, *routes: Route, pages: str | None = None) -> DocumentState:
    state = DocumentState("job", NOW)
    state.pages.choose(pages, len(classes))
    state.take_up(carried(classes, plan(*routes)), text_only=False)
    return state


def carried(classes: str, how: DocumentPlan) -> Carried:
    return Carried(
        plan=how,
        source=DocumentReceipt(sha256="0" * 64, bytes=9, page_count=len(classes)),
        brief="brief",
        classes=classes,
        started=NOW,
        deadline=NOW + 60,
    )


def check(status: DocumentStatus) -> None:
    assert 0 <= status.completed_items + status.failed_items <= status.total_items
    assert (status.error_message is not None) == (status.status == "failed")
    assert (status.completed_at is not None) == (status.status in ("completed", "failed"))
    detail = status.progress_detail
    assert len(detail.page_errors) <= status.failed_items
    assert sum(detail.pages_by_source.values()) == status.completed_items + status.failed_items
    for moment in (status.heartbeat_at, status.started_at, status.deadline_at):
        assert moment is None or datetime.fromisoformat(moment).tzinfo is not None
    assert DocumentStatus.model_validate_json(status.model_dump_json()) == status


@quick
@given(
    classes=st.text("THSB", min_size=1, max_size=15),
    script=st.lists(
        st.builds(
            Outcome,
            what=st.sampled_from([OK, OK, *(kind.value for kind in KINDS)]),
            seconds=quarters(0.25, 9),
            retry_after_s=st.none(),
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_contract_at_every_moment(classes: str, script: list[Outcome]) -> None:
    routes = (Route(provider="a", model="m"), Route(provider="b", model="m"))
    state = begun(classes, *routes)
    done: list[int] = []

    def watch(simulation: Simulation) -> None:
        status = queries.status(state)
        check(status)
        assert status.status == "running"
        assert status.total_items == len(classes)
        counted = status.completed_items + status.failed_items
        assert counted == len(classes) - status.progress_detail.waiting - len(
            state.pages.require_dispatch().flights
        )
        done.append(counted)
        states = [page.state for page in queries.pages(state, PageRange())]
        assert states.count("done") == counted
        assert len(queries.breakers(state)) == 4

    simulation = Simulation(
        state.pages.require_dispatch(), {0: script, 1: script[::-1]}, NOW, watch=watch
    )
    simulation.run()
    assert done == sorted(done), "absolute counts never go back"
    state.close(timed_out=simulation.timed_out, cancelled=False)
    state.complete(simulation.now)
    status = queries.status(state)
    check(status)
    assert status.status == "completed"
    assert status.completed_items + status.failed_items == status.total_items
    assert [record.page for record in state.pages.records()] == list(range(1, len(classes) + 1))


def test_life_of_a_status() -> None:
    state = DocumentState("job", NOW)
    assert queries.status(state).status == "pending"
    check(queries.status(state))
    state.set_plan(plan(), NOW + 60)
    assert queries.status(state).status == "running"
    assert queries.breakers(state) == []
    assert queries.pages(state, PageRange()) == []
    state.fail(REFUSED, NOW + 1)
    status = queries.status(state)
    check(status)
    assert status.error_message == REFUSED.line()


def test_pages_that_need_no_model_are_settled_by_the_survey() -> None:
    state = begun("THSB")
    assert len(state.pages.vision) == 2
    assert state.pages.require_dispatch().waiting == [2, 3]
    assert {n: r.source for n, r in state.pages.settled.items()} == {
        1: TextSource.MUPDF,
        4: TextSource.MUPDF,
    }


@pytest.mark.parametrize(
    ("every_page", "text_only", "vision"),
    [(False, False, 2), (True, False, 4), (False, True, 0), (True, True, 0)],
)
def test_which_pages_need_a_model(every_page: bool, text_only: bool, vision: int) -> None:
    state = DocumentState("job", NOW)
    state.pages.choose(None, 4)
    how = plan().model_copy(update={"every_page": every_page})
    state.take_up(carried("THSB", how), text_only=text_only)
    assert len(state.pages.vision) == vision


def test_only_chosen_pages_exist() -> None:
    state = begun("TSSST", Route(provider="a", model="m"), pages="2,5")
    assert queries.status(state).total_items == 2
    assert sorted(state.pages.classes) == [2, 5]
    assert [page.page for page in queries.pages(state, PageRange(first=3))] == [5]


def test_deadline_before_the_survey_leaves_no_page_out() -> None:
    state = DocumentState("job", NOW)
    state.set_plan(plan(), NOW + 60)
    state.pages.choose(None, 3)
    state.close(timed_out=True, cancelled=False)
    state.complete(NOW + 60)
    status = queries.status(state)
    check(status)
    assert status.failed_items == 3
    assert status.progress_detail.timeout_occurred
    assert len(state.pages.vision) == 3
    assert {r.source for r in state.pages.records()} == {TextSource.MUPDF_TIMEOUT_FALLBACK}


def test_deadline_after_the_last_page_is_no_timeout() -> None:
    state = begun("TT")
    state.close(timed_out=True, cancelled=False)
    assert not state.end.timed_out


def test_left_out_routes_are_a_warning_only_where_a_model_was_needed() -> None:
    for classes, warned in (("TT", ()), ("TS", ("openai is left out",))):
        state = DocumentState("job", NOW)
        state.pages.choose(None, 2)
        how = plan(left_out=("openai is left out",))
        state.take_up(carried(classes, how), text_only=False)
        assert state.warnings == warned


def test_unsurveyed_pages_have_a_class_to_show() -> None:
    state = DocumentState("job", NOW)
    state.set_plan(plan(), NOW + 60)
    state.pages.choose(None, 1)
    (page,) = queries.pages(state, PageRange())
    assert (page.state, page.classification) == ("waiting", Classification.SCANNED)


def test_cancelled_document_says_so_and_not_that_it_was_late() -> None:
    state = begun("TSS", Route(provider="a", model="m"))
    state.close(timed_out=True, cancelled=True)
    state.complete(NOW + 9)
    status = queries.status(state)
    check(status)
    assert status.progress_detail.cancelled
    assert not status.progress_detail.timeout_occurred
    assert status.progress_detail.pages_by_source == {"mupdf": 1, "mupdf_fallback": 2}
    assert {error.code for error in status.progress_detail.page_errors.values()} == {Code.NOT_READY}


def test_retry_takes_degraded_pages_or_the_named_ones() -> None:
    state = begun("TSS")
    dispatch = state.pages.require_dispatch()
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert state.pages.retryable(None) == (2, 3)
    assert state.pages.retryable("1,3,9") == (1, 3)
    assert state.pages.retry("3", NOW) == (3,)
    check(queries.status(state))
    assert queries.status(state).failed_items == 1
    assert dispatch.waiting == [3]
    assert dispatch.pages[3].take == 0, "no answer is stored that could be found"
    assert state.pages.retry("1", NOW) == (1,)
    assert dispatch.pages[1].take == 0, "no model had read it"
    assert len(state.pages.vision) == 3
    assert dispatch.waiting == [1, 3]
    check(queries.status(state))


def test_versions_tell_what_changed() -> None:
    state = begun("SS", Route(provider="a", model="m"))
    dispatch = state.pages.require_dispatch()
    for assignment, _ in dispatch.apply(select(dispatch.snapshot(NOW))):
        dispatch.succeeded(assignment.page, AttemptReceipt(milliseconds=1, chars=1), 0.0)
        state.attempt_settled(assignment.page, NOW + 1)
    assert state.version.changed_pages() == ()
    state.version.begin_next()
    state.pages.retry("2", NOW + 2)
    for assignment, _ in dispatch.apply(select(dispatch.snapshot(NOW + 2))):
        dispatch.succeeded(assignment.page, AttemptReceipt(milliseconds=1, chars=1), 0.0)
        state.attempt_settled(assignment.page, NOW + 3)
    assert state.version.number == 2
    assert state.version.changed_pages() == (2,)
    assert queries.status(state).last_completed_item == 2


# --- read again ----------------------------------------------------------------------------

A_M = Route(provider="a", model="m")
READ = AttemptReceipt(milliseconds=1, chars=1)


def read_all(state: DocumentState, now: float = NOW) -> None:
    """Every page that can be read now is."""
    dispatch = state.pages.require_dispatch()
    for assignment, _ in dispatch.apply(select(dispatch.snapshot(now))):
        dispatch.succeeded(assignment.page, READ, 0.0)
        state.attempt_settled(assignment.page, now)


def next_run(
    state: DocumentState, before: Carried, *, text_only: bool = False
) -> tuple[DocumentState, Carried]:
    """The document after a journey through history."""
    whole = Carried.model_validate_json(state.carry(before).model_dump_json())
    again = DocumentState(state.job_id, NOW + 999)
    again.pages.chosen = state.pages.chosen
    again.take_up(whole, text_only=text_only)
    return again, whole


def test_good_page_that_cannot_be_read_again_still_counts_as_done() -> None:
    state = begun("TS", A_M)
    read_all(state)
    before = state.pages.records()
    assert state.pages.retry("2", NOW) == (2,)
    assert queries.status(state).completed_items == 1
    state.close(timed_out=True, cancelled=False)
    assert state.pages.records() == before
    status = queries.status(state)
    check(status)
    assert (status.completed_items, status.failed_items) == (2, 0)


def test_each_request_to_read_a_good_page_again_is_a_take() -> None:
    state = begun("S", A_M)
    read_all(state)
    takes = []
    for _ in range(3):
        state.pages.retry("1", NOW)
        read_all(state)
        takes.append(state.pages.records()[0].take)
    assert takes == [1, 2, 3]
    assert len(state.pages.records()[0].attempts) == 4


@pytest.mark.parametrize("text_only", [True, False])
def test_text_page_to_be_read_again_survives_a_next_run(text_only: bool) -> None:
    state = DocumentState("job", NOW)
    state.pages.choose(None, 4)
    start = carried("TTSB", plan(A_M))
    state.take_up(start, text_only=text_only)
    state.pages.retry("1,4", NOW)
    vision = len(state.pages.vision)
    going_on, start = next_run(state, start, text_only=text_only)
    assert len(going_on.pages.vision) == vision
    assert going_on.pages.require_dispatch().waiting == state.pages.require_dispatch().waiting
    for _ in range(2):
        read_all(going_on)
    finished, _ = next_run(going_on, start, text_only=text_only)
    assert finished.pages.records() == going_on.pages.records()
    sources = {record.page: record.source for record in finished.pages.records()}
    third = TextSource.MUPDF if text_only else TextSource.AI
    assert sources == {1: TextSource.AI, 2: TextSource.MUPDF, 3: third, 4: TextSource.AI}
    assert len(finished.pages.vision) == vision


@pytest.mark.parametrize(
    ("before", "take"),
    [
        (PageRecord(page=1, source=TextSource.MUPDF), 0),
        (PageRecord(page=1, source=TextSource.MUPDF_FALLBACK), 0),
        (PageRecord(page=1, attempts=(AttemptNote(1, OK),), take=2, answer="answers/x.json"), 3),
    ],
    ids=["text", "degraded", "read"],
)
def test_finished_job_reads_a_named_page_again_even_one_of_text(
    before: PageRecord, take: int
) -> None:
    start = carried("TS", plan(A_M)).model_copy(
        update={
            "again": (before,),
            "records": (PageRecord(page=2, attempts=(AttemptNote(1, OK),)),),
            "past_routes": ("old:m",),
            "version": 2,
        }
    )
    state = DocumentState("job", NOW)
    state.pages.choose(None, 2)
    state.take_up(start, text_only=False)
    assert state.pages.require_dispatch().waiting == [1]
    assert len(state.pages.vision) == 2
    # Carried before it is read, it is still to be read, as the same take, once.
    going_on, start = next_run(state, start)
    assert start.again == ()
    assert going_on.pages.require_dispatch().pages == state.pages.require_dispatch().pages
    read_all(going_on)
    record = going_on.pages.records()[0]
    assert (record.source, record.take) == (TextSource.AI, take)
    assert record.attempts == (*before.attempts, AttemptNote(0, OK, 1))
    assert record.answer is None, "the answer is a new one"
    assert going_on.version.changed_pages() == (1,)
    (page, _) = queries.pages(going_on, PageRange())
    assert page.route == "a:m"


def test_finished_job_keeps_a_good_page_that_cannot_be_read_again() -> None:
    before = PageRecord(page=1, attempts=(AttemptNote(1, OK),), answer="answers/x.json")
    start = carried("S", plan(A_M)).model_copy(
        update={"again": (before,), "past_routes": ("old:m",), "version": 2}
    )
    state = DocumentState("job", NOW)
    state.pages.choose(None, 1)
    state.take_up(start, text_only=False)
    going_on, _ = next_run(state, start)
    going_on.close(timed_out=False, cancelled=True)
    assert going_on.pages.records() == (before,)


def test_text_page_that_an_earlier_run_had_read_stays_read() -> None:
    """Retry page 1 of a finished job, then page 2: page 1 was read by a model and stays so."""
    read = PageRecord(page=1, attempts=(AttemptNote(1, OK),), answer="answers/x.json")
    start = carried("TS", plan(A_M)).model_copy(
        update={
            "records": (read,),
            "again": (PageRecord(page=2, source=TextSource.MUPDF_FALLBACK),),
            "past_routes": ("old:m",),
            "version": 3,
        }
    )
    state = DocumentState("job", NOW)
    state.pages.choose(None, 2)
    state.take_up(start, text_only=False)
    going_on, _ = next_run(state, start)
    assert going_on.pages.records() == (read,), "the text of a model was dropped for MuPDF's"
    assert len(state.pages.vision) == len(going_on.pages.vision) == 2


# --- from run to run -----------------------------------------------------------------------

ends = st.lists(
    st.builds(
        Outcome,
        what=st.sampled_from(
            [OK, OK, OK, STORED, CROWDED, STOOD_DOWN, *(kind.value for kind in KINDS)]
        ),
        seconds=quarters(0.25, 9),
        retry_after_s=st.none() | quarters(0, 60),
    ),
    min_size=1,
    max_size=5,
)


@st.composite
def lives(draw: st.DrawFn) -> tuple[Carried, dict[int, list[Outcome]]]:
    """A document that is new, or that was finished once and is read again in part."""
    routes = draw(chains())
    classes = draw(st.text("THSB", min_size=1, max_size=12))
    how = plan(*routes).model_copy(
        update={
            "breaker": draw(breaker_policies),
            "dispatch": draw(dispatch_policies),
            "every_page": draw(st.booleans()),
        }
    )
    start = carried(classes, how)
    if draw(st.booleans()):
        past = [
            draw(past_records(number, letter in "TB" and not how.every_page, len(routes)))
            for number, letter in enumerate(classes, start=1)
        ]
        again = draw(st.sets(st.sampled_from([record.page for record in past]), min_size=1))
        start = start.model_copy(
            update={
                "records": tuple(record for record in past if record.page not in again),
                "again": tuple(record for record in past if record.page in again),
                "past_routes": ("old:m", "old:n"),
                "version": 2,
            }
        )
    return start, {index: draw(ends) for index in range(len(routes))}


@st.composite
def past_records(draw: st.DrawFn, number: int, text: bool, routes: int) -> PageRecord:
    """Text that is enough may have been read by a model all the same: somebody wanted it."""
    if text and draw(st.booleans()):
        return PageRecord(page=number, source=TextSource.MUPDF)
    if draw(st.booleans()):
        return PageRecord(page=number, source=TextSource.MUPDF_FALLBACK)
    return PageRecord(
        page=number,
        attempts=(AttemptNote(routes, "SERVER"), AttemptNote(routes + 1, OK)),
        take=draw(st.integers(0, 2)),
        answer="answers/x.json",
    )


@quick
@given(
    life=lives(),
    runs=st.lists(st.tuples(st.integers(0, 5), st.sampled_from([None, "1", "2-4", "1-"]))),
    text_only=st.booleans(),
)
def test_nothing_is_lost_from_run_to_run(
    life: tuple[Carried, dict[int, list[Outcome]]],
    runs: list[tuple[int, str | None]],
    text_only: bool,
) -> None:
    """At any moment with nothing in flight: pages, attempts, takes, breakers and counts stay."""
    start, script = life
    state = DocumentState("job", NOW)
    state.pages.choose(None, len(start.classes))
    state.take_up(start, text_only=text_only)
    now = NOW
    for selections, spec in runs:
        simulation = Simulation(state.pages.require_dispatch(), script, now).run(
            drain_after=selections
        )
        now = simulation.now
        if now >= start.deadline:
            break
        state.pages.retry(spec, now)
        state.attempt_settled(1, now)
        going_on, start = next_run(state, start, text_only=text_only)
        compare(state, going_on, now)
        state = going_on
    Simulation(state.pages.require_dispatch(), script, now).run()
    state.close(timed_out=True, cancelled=False)
    assert [record.page for record in state.pages.records()] == list(state.pages.chosen)
    check(queries.status(state))


def compare(before: DocumentState, after: DocumentState, now: float) -> None:
    one, two = before.pages.require_dispatch(), after.pages.require_dispatch()
    assert after.pages.records() == before.pages.records()
    assert two.waiting == one.waiting
    assert {n: two.pages[n] for n in two.waiting} == {n: one.pages[n] for n in one.waiting}
    assert queries.breakers(after) == queries.breakers(before)
    assert two.health.breakers == one.health.breakers
    assert two.answered == one.answered
    assert queries.pages(after, PageRange()) == queries.pages(before, PageRange())
    assert after.pages.vision == before.pages.vision
    assert after.route_keys == before.route_keys
    assert after.warnings == before.warnings
    assert after.version == before.version
    shown, carried_on = queries.status(before), queries.status(after)
    check(carried_on)
    same = ("status", "total_items", "completed_items", "failed_items", "started_at", "deadline_at")
    assert [getattr(carried_on, name) for name in same] == [getattr(shown, name) for name in same]
    assert carried_on.progress_detail == shown.progress_detail
    one.crowds = two.crowds  # Who else is at a route is found out again.
    assert two.snapshot(now) == one.snapshot(now)


def test_document_goes_on_in_its_next_run() -> None:
    routes = (Route(provider="a", model="m"), Route(provider="b", model="m"))
    state = begun("TSSSS", *routes)
    dispatch = state.pages.require_dispatch()
    first, second, *_ = dispatch.apply(select(dispatch.snapshot(NOW)))
    dispatch.succeeded(first[0].page, AttemptReceipt(milliseconds=1, chars=1), 0.0)
    dispatch.failed(second[0].page, failure(FailureKind.SERVER), NOW + 1)
    state.attempt_failed(second[0].page)
    for number in list(dispatch.flights):
        dispatch.stood_aside(number, NOW + 1, crowded=False)
    whole = state.carry(carried("TSSSS", plan(*routes)))
    again = DocumentState("job", NOW)
    again.pages.choose(None, 5)
    again.take_up(Carried.model_validate_json(whole.model_dump_json()), text_only=False)
    assert again.pages.records() == state.pages.records()
    assert len(again.pages.vision) == len(state.pages.vision)
    assert again.pages.require_dispatch().waiting == dispatch.waiting
    assert queries.breakers(again) == queries.breakers(state)
    assert len(again.progress.last_errors) == 1
    assert again.progress.last_errors == state.progress.last_errors
    before, after = queries.status(state), queries.status(again)
    assert after.completed_items == before.completed_items
    assert after.progress_detail == before.progress_detail
