"""Page lists as people write them, and pages as `text.txt` has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.page_ranges import parse_pages
from quire.domain.document.merge import merge_pages
from quire.domain.page_ranges import choose_pages, format_pages
from tests.domain.strategies import quick


@pytest.mark.parametrize(
    ("spec", "pages"),
    [
        (None, (1, 2, 3, 4, 5)),
        ("1", (1,)),
        ("1-3", (1, 2, 3)),
        ("4-", (4, 5)),
        (" 5 , 1 - 2".replace(" - ", "-"), (1, 2, 5)),
        ("2,2,1-3", (1, 2, 3)),
        ("3-99", (3, 4, 5)),
        ("9", ()),
        ("9-", ()),
        ("1-999999999999", (1, 2, 3, 4, 5)),
    ],
)
def test_choosing(spec: str | None, pages: tuple[int, ...]) -> None:
    assert choose_pages(spec, 5) == pages


@pytest.mark.parametrize(
    "spec", ["", " ", ",", "1,", "0", "0-3", "3-1", "-3", "a", "1-2-3", "1.5", "+1", "1 2", "--"]
)
def test_nonsense_is_refused_with_its_words(spec: str) -> None:
    with pytest.raises(ValueError, match="is not a") as refused:
        parse_pages(spec)
    assert "\n" not in str(refused.value)


@quick
@given(st.sets(st.integers(1, 60)))
def test_formatting_and_choosing_are_inverse(pages: set[int]) -> None:
    spec = format_pages(pages)
    if pages:
        assert choose_pages(spec, 60) == tuple(sorted(pages))
    else:
        assert spec == ""


def test_short_form() -> None:
    assert format_pages([7, 1, 3, 2, 9, 8]) == "1-3,7-9"
    assert format_pages([4]) == "4"


def test_merged_pages_stand_under_headings_with_an_empty_line_between() -> None:
    merged = "".join(merge_pages([(1, "one\ntwo"), (2, "\n\nthree  \n\n"), (10, "")]))
    assert merged == "=== Page 1 ===\none\ntwo\n\n=== Page 2 ===\nthree\n\n=== Page 10 ===\n"


def test_indentation_of_the_first_line_is_text() -> None:
    assert "".join(merge_pages([(1, "\n    code")])) == "=== Page 1 ===\n    code\n"


@quick
@given(st.lists(st.text(st.sampled_from("ab \n\t="), max_size=30), max_size=6))
def test_merging_piece_by_piece_is_the_same(texts: list[str]) -> None:
    pages = list(enumerate(texts, start=1))
    pieces = [piece for page in pages for piece in merge_pages([page], first=page[0] == 1)]
    whole = "".join(merge_pages(pages))
    assert "".join(pieces) == whole
    assert whole.count("=== Page") >= len(pages)
    if pages:
        assert whole.endswith("\n")
        assert not whole.endswith("\n\n")
