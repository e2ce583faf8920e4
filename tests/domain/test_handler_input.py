"""Anything that is sent becomes a request or a refusal, and never an exception."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.codes import ErrorInfo
from quire.contracts.document import CancelRequest, RetryRequest
from quire.contracts.status import PageRange
from quire.domain.document.handler_input import (
    LONGEST_PAGES,
    parse_cancel,
    parse_range,
    parse_retry,
)
from quire.domain.page_ranges import choose_pages
from tests.domain.strategies import thorough

PARSERS = (parse_retry, parse_cancel, parse_range)
FIELDS = st.sampled_from(["user_id", "pages", "first", "last"])
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.from_regex(r"[0-9, \-]{0,12}", fullmatch=True),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(FIELDS | st.text(), inner, max_size=4)
    ),
    max_leaves=8,
)


@thorough
@given(sent=st.lists(JSON, max_size=3))
def test_anything_is_judged(sent: list[Any]) -> None:
    for parse in PARSERS:
        found = parse(sent)
        assert isinstance(found, ErrorInfo | RetryRequest | CancelRequest | PageRange)
        if isinstance(found, RetryRequest) and found.pages is not None:
            choose_pages(found.pages, 20)


@thorough
@given(secret=st.text(alphabet="QXZ", min_size=3), field=FIELDS)
def test_a_refusal_repeats_nothing(secret: str, field: str) -> None:
    for sent in (secret, [secret], {field: [secret]}, {secret: 1}, {"first": secret}):
        for parse in PARSERS:
            found = parse([sent])
            if isinstance(found, ErrorInfo):
                assert secret not in found.message


@pytest.mark.parametrize(
    ("sent", "user_id", "pages"),
    [
        ([], "", None),
        ([None], "", None),
        ([""], "", None),
        ([{}], "", None),
        (["3,5-7"], "", "3,5-7"),
        ([7], "", "7"),
        ([[3, "5-7"]], "", "3,5-7"),
        ([{"user_id": "anna", "pages": None}], "anna", None),
        ([{"user_id": None, "pages": [3, 4]}], "", "3,4"),
        ([{"user_id": 12, "pages": 3}], "12", "3"),
        ([RetryRequest(user_id="anna", pages="2")], "anna", "2"),
    ],
)
def test_retries(sent: list[Any], user_id: str, pages: str | None) -> None:
    assert parse_retry(sent) == RetryRequest(user_id=user_id, pages=pages)


@pytest.mark.parametrize(
    "sent",
    [
        [{}, {}],
        [True],
        [2.5],
        [b"3"],
        [[]],
        [[[3]]],
        ["0"],
        ["three"],
        ["7-3"],
        [{"page": "3"}],
        [{"pages": ""}],
        [{"user_id": ["anna"]}],
        ["9" * 5000],
        [10**5000],
        ["1," * LONGEST_PAGES],
    ],
    ids=lambda sent: repr(sent)[:30] if not isinstance(sent[0], int) else "number",
)
def test_what_is_no_retry(sent: list[Any]) -> None:
    found = parse_retry(sent)
    assert isinstance(found, ErrorInfo)
    assert found.reason == "INPUT"
    assert found.remedy


@pytest.mark.parametrize("sent", [[], [None], [{}], [{"user_id": None}], [""]])
def test_an_empty_cancel_is_one_without_a_name(sent: list[Any]) -> None:
    assert parse_cancel(sent) == CancelRequest()


def test_cancels() -> None:
    assert parse_cancel([{"user_id": "anna"}]) == CancelRequest(user_id="anna")
    assert parse_cancel(["anna"]) == CancelRequest(user_id="anna")
    wrong: list[list[Any]] = [[7], [["anna"]], [{"user": "anna"}], [{"user_id": {}}], ["a", "b"]]
    for sent in wrong:
        assert isinstance(parse_cancel(sent), ErrorInfo), sent


@pytest.mark.parametrize(
    ("sent", "first", "last"),
    [
        ("1-3", 1, 3),
        ("7", 7, 7),
        (7, 7, 7),
        ([2, 5], 2, 5),
        (["2", "5"], 2, 5),
        (["2-5"], 2, 5),
        ({"first": "2", "last": None}, 2, 1_000_000),
        ("4-", 4, 1_000_000),
        (None, 1, 1_000_000),
    ],
)
def test_ranges(sent: Any, first: int, last: int) -> None:
    assert parse_range([sent]) == PageRange(first=first, last=last)


@pytest.mark.parametrize("sent", ["1-3,7", "x", [1, 2, 3], {"frist": 1}, {"first": "a"}, True])
def test_what_is_no_range(sent: Any) -> None:
    assert isinstance(parse_range([sent]), ErrorInfo)


def test_the_longest_list_of_pages_is_no_burden() -> None:
    """A workflow task that takes two seconds is failed by the SDK."""
    started = time.perf_counter()
    assert choose_pages("1-," * (LONGEST_PAGES // 3) + "1-", 5000) == tuple(range(1, 5001))
    assert time.perf_counter() - started < 1.0
