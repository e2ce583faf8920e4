"""Ligatures and shapes of letters, as the letters that they stand for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.domain.layout.letters import mend_expansions, resolve_ligatures

LIGATURES = {
    "eﬃcient oﬃce ﬁrst ﬂoor ﬀ ﬅ": "efficient office first floor ff st",
    "ﻻ": "لا",
    "ﺳﻼﻡ": "سلام",
    "ﬓ": "մն",
    "plain": "plain",
    "naïve ½ № … Å": "naïve ½ № … Å",
}


@pytest.mark.parametrize("text", LIGATURES)
def test_ligatures_become_their_letters(text: str) -> None:
    assert resolve_ligatures(text) == LIGATURES[text]


@given(st.text(max_size=50))
def test_all_else_stays(text: str) -> None:
    outside = [char for char in text if not "\ufb00" <= char <= "\ufefc"]
    assert not Counter(outside) - Counter(resolve_ligatures(text))
    assert len(resolve_ligatures(text)) >= len(text)
    assert resolve_ligatures(text).split() == [resolve_ligatures(word) for word in text.split()]


def test_lam_alef_is_read_in_its_order() -> None:
    glyphs = [("ك", 5.0), ("ا", 0.0), ("ل", 7.0), ("ت", 9.0)]
    assert mend_expansions(glyphs) == "كلات"
    three = [("ه", 0.0), ("ل", 0.0), ("ل", 9.0)]
    assert mend_expansions(three) == "لله"


def test_marks_over_letters_and_other_scripts_stay() -> None:
    shadda = [("م", 5.0), ("\u0651", 0.0), ("ا", 3.0)]
    assert mend_expansions(shadda) == "م\u0651ا"
    assert mend_expansions([("a", 0.0), ("b", 5.0)]) == "ab"
    assert mend_expansions([("ا", 0.0), (" ", 3.0), ("ل", 5.0)]) == "ا ل"
    assert mend_expansions([("ل", 5.0), ("ا", 0.0)]) == "لا"


@given(st.lists(st.tuples(st.sampled_from("الaב 1"), st.sampled_from([0.0, 4.0])), max_size=20))
def test_no_letter_is_lost_or_invented(glyphs: list[tuple[str, float]]) -> None:
    assert Counter(mend_expansions(glyphs)) == Counter(letter for letter, _ in glyphs)
