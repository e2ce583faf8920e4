"""A survey that comes in parts leads to the same document as one that comes at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.codes import Code, ErrorInfo
from quire.contracts.page import Classification, TextSource
from quire.contracts.routing import Route
from quire.contracts.steps import AttemptReceipt
from quire.domain.document.keys import SURVEY_CHUNK
from quire.domain.document.plan import SURVEY_HEAD
from quire.domain.routing.selection import select
from tests.domain.strategies import NOW, quick
from tests.workflows.test_state import begun, carried, plan
from workflows.document import queries
from workflows.document.state import DocumentState

A_M = Route(provider="a", model="m")
READ = AttemptReceipt(milliseconds=7, chars=3)
GONE = ErrorInfo(
    code=Code.EXPIRED, reason="SOURCE_GONE", error_type="terminal", message="Gone.", remedy=""
)


def in_parts(
    classes: str, known: int, pages: str | None = None, *, text_only: bool = False
) -> DocumentState:
    state = DocumentState("job", NOW)
    state.pages.choose(pages, len(classes))
    state.take_up(carried(classes[:known], plan(A_M)), text_only=text_only)
    return state


def test_head_is_a_whole_number_of_stored_chunks() -> None:
    assert SURVEY_HEAD % SURVEY_CHUNK == 0


@quick
@given(st.text("THSB", min_size=2, max_size=15), st.data())
def test_parts_add_up(classes: str, data: st.DataObject) -> None:
    known = data.draw(st.integers(1, len(classes) - 1))
    first = data.draw(st.integers(1, len(classes)))
    pages = f"{first}-{len(classes)}"
    whole = begun(classes, A_M, pages=pages)
    state = in_parts(classes, known, pages)
    assert state.pages.unsurveyed == tuple(n for n in whole.pages.chosen if n > known)
    assert not state.pages.finished
    state.pages.survey_on(classes[known:])
    assert state.pages.unsurveyed == ()
    assert state.pages.classes == whole.pages.classes
    assert state.pages.vision == whole.pages.vision
    assert state.pages.records() == whole.pages.records()
    assert state.pages.require_dispatch().waiting == whole.pages.require_dispatch().waiting
    start = carried(classes, plan(A_M))
    assert state.carry(start) == whole.carry(start)


def test_pages_of_the_head_are_read_before_the_rest_is_known() -> None:
    state = in_parts("SSTSS", 3)
    dispatch = state.pages.require_dispatch()
    dispatch.apply(select(dispatch.snapshot(NOW)))
    assert sorted(dispatch.flights) == [1, 2]
    dispatch.succeeded(1, READ, 0.0)
    dispatch.succeeded(2, READ, 0.0)
    assert dispatch.finished
    assert not state.pages.finished, "two pages are not surveyed"
    assert queries.status(state).completed_items == 3
    state.pages.survey_on("SS")
    assert dispatch.waiting == [4, 5]
    assert dispatch.wants_selection()


def test_text_only_stays_so_for_the_rest() -> None:
    state = in_parts("SS", 1, text_only=True)
    state.pages.survey_on("S")
    assert state.pages.finished
    assert {record.source for record in state.pages.records()} == {TextSource.MUPDF}


@pytest.mark.parametrize("cancelled", [True, False])
def test_stopped_before_the_rest_is_known(cancelled: bool) -> None:
    state = in_parts("TSSSB", 2)
    state.close(timed_out=not cancelled, cancelled=cancelled)
    sources = {record.page: record.source for record in state.pages.records()}
    lost = TextSource.MUPDF_FALLBACK if cancelled else TextSource.MUPDF_TIMEOUT_FALLBACK
    assert sources == {1: TextSource.MUPDF, 2: lost, 3: lost, 4: lost, 5: lost}
    assert all(record.error for record in state.pages.records() if record.page > 1)
    assert state.end.timed_out == (not cancelled)
    assert state.end.cancelled == cancelled
    assert len(state.pages.vision) == 4, "what they would have needed was never known"
    status = queries.status(state)
    assert (status.completed_items, status.failed_items) == (1, 4)


def test_deadline_in_the_rest_counts_even_when_the_head_was_done() -> None:
    state = in_parts("TTTS", 3)
    state.close(timed_out=True, cancelled=False)
    assert state.end.timed_out


def test_survey_that_fails_ends_only_what_it_had_not_come_to() -> None:
    state = in_parts("SSSSS", 2)
    dispatch = state.pages.require_dispatch()
    dispatch.apply(select(dispatch.snapshot(NOW)))
    state.pages.survey_on("S")
    state.pages.survey_failed(GONE)
    assert sorted(dispatch.flights) == [1, 2], "what is paid for comes to its end"
    assert dispatch.waiting == [3]
    assert not state.pages.finished
    dispatch.succeeded(1, READ, 0.0)
    dispatch.succeeded(2, READ, 0.0)
    dispatch.apply(select(dispatch.snapshot(NOW)))
    dispatch.succeeded(3, READ, 0.0)
    assert state.pages.finished
    state.close(timed_out=False, cancelled=False)
    assert not state.end.timed_out
    lost = {record.page: record for record in state.pages.records() if record.source.degraded}
    assert sorted(lost) == [4, 5]
    for record in lost.values():
        assert record.source is TextSource.MUPDF_FALLBACK
        assert record.error is not None
        assert record.error.code is Code.EXPIRED
    assert len(state.pages.vision) == 5


def test_page_without_a_survey_can_be_asked_for_and_carried_over() -> None:
    state = in_parts("TTTS", 2)
    state.pages.survey_failed(GONE)
    assert state.pages.finished
    assert state.pages.retry("4", NOW) == (4,)
    assert not state.pages.finished
    assert state.pages.class_of(4) is Classification.SCANNED
    later = DocumentState("job", NOW)
    later.pages.choose(None, 4)
    later.take_up(state.carry(carried("TTTS", plan(A_M))), text_only=False)
    assert later.pages.unsurveyed == ()
    assert later.pages.require_dispatch().waiting == [4]
    assert [record.page for record in later.pages.records()] == [1, 2, 3]
    assert later.pages.records() == state.pages.records()
