"""Pages merged into one text, and found in it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.domain.counts import counted
from quire.domain.document.merge import merge_pages, page_body, split_pages

LINES = st.sampled_from(["", "a", " b ", "=== Page 2 ===", "=== Page 3 ===", "=== Page 7 ==="])
TEXTS = st.lists(LINES, max_size=6).map("\n".join)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_every_page_is_found_again(texts: list[str]) -> None:
    """As it is in the file, without the blanks at its ends, also when it quotes a heading."""
    texts = [text.strip("\n").rstrip() for text in texts]
    merged = "".join(merge_pages(enumerate(texts, 1)))
    lengths = [(number, len(text)) for number, text in enumerate(texts, 1)]
    assert split_pages(merged, lengths) == dict(enumerate(texts, 1))


def test_blanks_that_merging_removes_do_no_harm() -> None:
    pages = [(2, "\n one \n\n"), (5, "   "), (9, "two\n\n=== Page 12 ===\nthree"), (12, "four")]
    found = split_pages("".join(merge_pages(pages)), [(n, len(text)) for n, text in pages])
    assert found == {2: " one", 5: "", 9: "two\n\n=== Page 12 ===\nthree", 12: "four"}


def test_a_text_of_other_pages_is_refused() -> None:
    with pytest.raises(ValueError, match="page 2 is missing"):
        split_pages("=== Page 1 ===\na\n", [(1, 1), (2, 1)])


def test_one_thing_is_not_several() -> None:
    assert [counted(n, "page") for n in (0, 1, 2, 5000)] == [
        "0 pages", "1 page", "2 pages", "5,000 pages",
    ]  # fmt: skip


@given(st.lists(st.text("ab \n", max_size=20), max_size=5), st.integers(1, 50))
def test_blanks_around_a_page_are_left_out(texts: list[str], first: int) -> None:
    pages = list(enumerate(texts, start=first))
    merged = "".join(merge_pages(pages))
    sizes = [(number, len(text)) for number, text in pages]
    assert split_pages(merged, sizes) == {number: page_body(text) for number, text in pages}
