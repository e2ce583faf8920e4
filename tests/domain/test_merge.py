"""The document's text, and the pages out of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.domain.document.merge import merge_pages, page_body, split_pages

LINES = st.sampled_from(["", " ", "words", "  indented", "=== Page 2 ===", "=== Page 3 ===", "\t"])
TEXTS = st.lists(LINES, max_size=6).map("\n".join)


@given(st.lists(TEXTS.map(lambda text: text.rstrip()), max_size=5))
def test_pages_come_out_as_they_went_in(texts: list[str]) -> None:
    """Also where a page has the words of a heading in it."""
    pages = list(enumerate((page_body(text) for text in texts), start=1))
    merged = "".join(merge_pages(pages))
    assert split_pages(merged, [(n, len(text)) for n, text in pages]) == [t for _, t in pages]


@given(st.lists(st.text("ab \n", max_size=20), max_size=5), st.integers(1, 50))
def test_blanks_around_a_page_are_left_out(texts: list[str], first: int) -> None:
    pages = list(enumerate(texts, start=first))
    merged = "".join(merge_pages(pages))
    sizes = [(number, len(text)) for number, text in pages]
    assert split_pages(merged, sizes) == [page_body(text) for text in texts]


def test_a_text_that_someone_changed_is_refused() -> None:
    merged = "".join(merge_pages([(1, "one"), (2, "two")]))
    with pytest.raises(ValueError, match="page 2"):
        split_pages(merged.replace("=== Page 2", "--- Page 2"), [(1, 3), (2, 3)])
