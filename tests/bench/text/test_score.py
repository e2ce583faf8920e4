"""The measure itself: distances, checks, and pages whose truth passes their own checks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.text.pages import generated
from bench.text.readers import Texts
from bench.text.report import markdown
from bench.text.score import Check, distance, plain, score
from bench.text.speed import Speed


def _slow_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_distance_is_that_of_levenshtein(a: str, b: str) -> None:
    assert distance(a, b) == _slow_distance(a, b)


@pytest.mark.parametrize(
    ("check", "text", "holds"),
    [
        (Check("present", "of every ship"), "a log of\nevery ship", True),
        (Check("absent", "of ship"), "a log of\nevery ship", True),
        (Check("order", "one", "two"), "two, one, two", True),
        (Check("order", "one", "two"), "two, one", False),
        (Check("order", "one", "two"), "two", False),
        (Check("cell", "Item", "7"), "| Item | 7 |\n| Other | 8 |", True),
        (Check("cell", "Item", "8"), "| Item | 7 |\n| Other | 8 |", False),
    ],
)
def test_checks(check: Check, text: str, holds: bool) -> None:
    assert check.holds(text) is holds


def test_torn_words_count_for_no_tool() -> None:
    assert plain("an exam-\nple  of\n it") == "an example of it"


def test_pages_are_the_same_at_every_run_and_pass_their_own_checks() -> None:
    pages = list(generated(full=False))
    assert [(page.name, page.truth) for page in pages] == [
        (page.name, page.truth) for page in generated(full=False)
    ]
    for page in pages:
        judged = score(page.truth, page.truth, page.checks)
        assert (judged.character_error, judged.word_recall) == (0, 1)
        assert judged.passed == judged.checks > 0, page.name
    truth = Texts("truth", [page.truth for page in pages])
    speeds = [Speed("truth", [1.5, 2.0])]
    report = markdown(pages, [truth], speeds, ["another: not installed"], {"CPU": "one"})
    assert "| text layer | 5 | 0.000 (100%) |" in report
    assert "| 2 | 2.00 |" in report
    assert "- Left out: another: not installed" in report
