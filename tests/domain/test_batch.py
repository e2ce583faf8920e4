"""The rules of batches: order and window, spending, pace, rows, names of folders, orders."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from quire.contracts.batch import BatchOptions, BatchOrder, DocumentRow, SourceItem
from quire.contracts.codes import ErrorInfo
from quire.domain import errors
from quire.domain.batch.folders import folder_names
from quire.domain.batch.handler_input import parse_order
from quire.domain.batch.letters import NOT_GOOD, WORDS, counts, numbers_of, replaced
from quire.domain.batch.progress import Pace, documents_a_second, noted, seconds_left
from quire.domain.batch.rows import (
    blank_row,
    end_of,
    json_lines,
    latest_rows,
    row_of_error,
    row_of_same,
)
from quire.domain.batch.sources import request_for, with_same
from quire.domain.batch.spend import limit_reached
from quire.domain.batch.summary import letters_of, message
from quire.domain.batch.window import GROUP, next_numbers

LETTERS = "".join(WORDS)


@given(some.text(LETTERS, max_size=60), some.integers(0, 50), some.sets(some.integers(1, 60)))
def test_documents_start_in_order_and_within_the_window(
    letters: str, room: int, held: set[int]
) -> None:
    chosen = next_numbers(letters, window=room, held=held)
    assert list(chosen) == sorted(set(chosen))
    assert len(chosen) <= min(room, GROUP)
    assert all(letters[n - 1] == "." and n not in held for n in chosen)
    free = [n for n in numbers_of(letters, ".") if n not in held]
    assert list(chosen) == free[: len(chosen)]
    assert len(chosen) == min(room, GROUP, len(free))


@given(some.text(LETTERS, max_size=60))
def test_every_document_is_in_one_state(letters: str) -> None:
    found = counts(letters)
    assert found.ended + found.waiting + found.running == len(letters)
    again = replaced(letters, dict.fromkeys(numbers_of(letters, NOT_GOOD), "."))
    assert not set(again) & set(NOT_GOOD)


def test_the_spend_limit() -> None:
    assert not limit_reached(9.99, 10.0)
    assert limit_reached(10.0, 10.0)
    assert limit_reached(0.0, 0.0), "nothing may be spent"
    assert not limit_reached(1e9, None)


def test_the_pace_is_that_of_the_last_documents() -> None:
    pace: Pace = ()
    assert documents_a_second(pace) is None
    for second in range(0, 1000, 5):
        pace = noted(pace, float(second), second * 2 if second < 500 else 1000 + (second - 500))
    assert documents_a_second(pace) == pytest.approx(1.0)
    assert seconds_left(pace, 60) == pytest.approx(60.0)
    assert seconds_left(pace, 0) is None


def test_the_same_bytes_are_the_same_only_when_read_in_the_same_way() -> None:
    broken = errors.empty_file("x").info
    items = [
        SourceItem(source="store:a"),
        SourceItem(source="store:a", pages="1"),
        SourceItem(source="store:a", job_id="mine"),
        SourceItem(error=broken),
        SourceItem(source="store:b"),
        SourceItem(source="store:a", pages="1"),
        SourceItem(source="https://x"),
    ]
    found = with_same(items, ["a", "a", "a", "a", "b", "a", ""])
    assert [item.same_as for item in found] == [0, 0, 1, 0, 0, 2, 0]


def test_a_retry_counts_what_both_readings_cost() -> None:
    row = DocumentRow(number=2, source="a", job_id="b-00002", status="degraded", cost_usd=0.25)
    again = row.model_copy(update={"take": 1, "status": "done", "cost_usd": 0.5})
    other = row.model_copy(update={"number": 1, "status": "failed"})
    rows = latest_rows([again, row, other, row])
    assert [(r.number, r.status, r.cost_usd) for r in rows] == [
        (1, "failed", 0.25),
        (2, "done", 0.75),
    ]
    assert letters_of(rows, 3) == "fd."
    unknown = latest_rows([again, row.model_copy(update={"cost_usd": None})])
    assert unknown[0].cost_usd is None


def test_rows_of_what_was_stopped_and_of_what_is_the_same() -> None:
    item = SourceItem(shown="in/a.pdf", value="900")
    row = blank_row("b", 7, item, 0)
    assert (row.job_id, row.status) == ("b-00007", "not_started")
    assert row_of_error(row, errors.cancelled_before_fetch().info).status == "cancelled"
    assert row_of_error(row, errors.batch_called_off().info, "not_started").status == "not_started"
    failed = row_of_error(row, errors.empty_file("a.pdf").info)
    assert (failed.status, failed.code, end_of(failed).letter) == ("failed", "NOT_PDF", "f")
    first = row.model_copy(update={"number": 1, "status": "done", "cost_usd": 2.0, "pages": 3})
    same = row_of_same(row, first, 1)
    assert (same.number, same.same_as, same.cost_usd, same.pages) == (7, 1, 0.0, 3)
    assert same.value == "900"
    assert json_lines([same]).count("\n") == 1


def test_what_is_asked_of_a_document() -> None:
    item = SourceItem(source="store:a", name="a.pdf", pages="2", engine="anthropic")
    options = BatchOptions(engine="openai", deadline_s=7200.0, force=True)
    request = request_for("b", "ana", 3, item, options, 0)
    assert (request.job_id, request.engine, request.mode) == ("b-00003", "anthropic", "hold")
    assert (request.deadline_s, request.force, request.user_id) == (7200.0, True, "ana")
    assert not request_for("b", "ana", 3, item, options, 1).force, "a retry keeps what was read"


def test_no_two_documents_share_a_folder() -> None:
    sources = ["in/a.pdf", "other/a.pdf", "in/A.PDF", "in/..", "s3://b/k/ü:?.pdf", "x" * 300]
    names = folder_names(list(enumerate(sources, 1)))
    assert len({name.casefold() for name in names.values()}) == len(sources)
    assert names[1] == "00001-a"
    assert names[4] == "00004-document"
    assert all("/" not in name and len(name) < 100 for name in names.values())


@pytest.mark.parametrize(
    ("given_", "user", "limit"),
    [
        ((), "", None),
        (("ana",), "ana", None),
        (({"user_id": 7},), "7", None),
        (({"user_id": "ana", "max_cost_usd": 3},), "ana", 3.0),
        ((BatchOrder(user_id="x"),), "x", None),
    ],
)
def test_orders_as_people_send_them(
    given_: tuple[object, ...], user: str, limit: float | None
) -> None:
    order = parse_order(given_)
    assert isinstance(order, BatchOrder)
    assert (order.user_id, order.max_cost_usd) == (user, limit)


@pytest.mark.parametrize(
    "given_", [(1,), ([],), ("a", "b"), ({"who": "ana"},), ({"max_cost_usd": -1},), (b"\xff",)]
)
def test_anything_else_is_an_answer_and_no_fault(given_: tuple[object, ...]) -> None:
    assert isinstance(parse_order(given_), ErrorInfo)


def test_the_batch_in_one_line() -> None:
    assert message(counts("ddgf.")) == (
        "3 of 5 documents read, 1 of them with degraded pages, 1 failed, 1 waiting"
    )
