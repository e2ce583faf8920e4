"""Words torn apart by the end of a line: which are made whole, and which hyphens are real."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.domain.layout.hyphens import SOFT, join_hyphens, keep_hyphens

TORN = {
    "an exam-\nple of it": "an example\nof it",
    "an exam-\nple.\nNext": "an example.\nNext",
    "an exam- \n  ple of it": "an example\nof it",
    "an exam‐\nple of it": "an example\nof it",
    "Intro-\nduction": "Introduction",
    "the end of a col-\n\numn and more": "the end of a column\n\nand more",
    "Donau-\ndampf-\nschiff": "Donaudampfschiff",
    "Über-\nraschung, früh-\nstücken": "Überraschung,\nfrühstücken",
    "пере-\nнос слова": "перенос\nслова",
    f"exam{SOFT}\nple": "example",
    f"Süd{SOFT}\nAmerika": "SüdAmerika",
    f"co{SOFT}operate": "cooperate",
}
REAL = {
    "a self-\ncontained part": "a self-contained\npart",
    "state-of-the-\nart work": "state-of-the-art\nwork",
    "a well-\nto-do man": "a well-to-do\nman",
    "an e-\nmail to": "an e-mail\nto",
    "the DNA-\nbased test": "the DNA-based\ntest",
    "long-term plans, and long-\nterm goals": "long-term plans, and long-term\ngoals",
}
UNCHANGED = [
    "Jean-\nPierre", "the years 2019-\n2020", "COVID-\n19", "INFOR-\nMATION", "Vor-\nund Nachteile",
    "- one\n- two", "a dash -\nand more", "no hyphen\nat all", "ends with-", "3-\nfold", "",
]  # fmt: skip


@pytest.mark.parametrize("text", TORN)
def test_torn_words_are_made_whole(text: str) -> None:
    assert join_hyphens(text) == TORN[text]


@pytest.mark.parametrize("text", REAL)
def test_real_hyphens_stay_and_the_word_is_whole(text: str) -> None:
    assert join_hyphens(text) == REAL[text]


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_is_no_torn_word_stays_as_it_is(text: str) -> None:
    assert join_hyphens(text) == text


def test_kept_lines_show_their_hyphens() -> None:
    assert keep_hyphens(f"exam{SOFT}\nple co{SOFT}op {SOFT} a") == "exam-\nple coop - a"
    assert keep_hyphens("exam-\nple") == "exam-\nple"


TEXTS = st.text(alphabet="ab Cé-‐\u00ad1\n.’ ", max_size=60)


@given(TEXTS)
def test_no_letter_is_lost_or_invented(text: str) -> None:
    hyphens = {"-", "‐", SOFT}

    def others(of: str) -> list[str]:
        return [char for char in of if not char.isspace() and char not in hyphens]

    for done in (join_hyphens(text), keep_hyphens(text)):
        assert others(done) == others(text)
        assert sum(Counter(done)[mark] for mark in hyphens) <= sum(
            Counter(text)[mark] for mark in hyphens
        )
        assert SOFT not in done


@given(TEXTS)
def test_a_second_time_changes_nothing_that_is_kept(text: str) -> None:
    assert keep_hyphens(keep_hyphens(text)) == keep_hyphens(text)
