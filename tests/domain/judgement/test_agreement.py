"""What two texts of a page have in common."""

import random

import pytest

from quire.domain.judgement.agreement import agreement, compare, is_unrelated
from quire.domain.judgement.language import is_language
from quire.domain.judgement.words import words_of
from testing.prose import WORDS

PROSE = {
    "English": WORDS,
    "German": "Der Hafenmeister führt ein Buch über jedes Schiff, das in die Bucht kommt, und er "
    "hat es nicht aus der Hand gegeben, seit der erste Stein am Kai gelegt ist. Auch das Wetter "
    "steht darin.",
    "French": "Le maître du port tient un registre de tous les navires qui entrent dans la baie, "
    "et il ne l'a pas quitté depuis que la première pierre du quai est posée.",
    "Spanish": "El capitán del puerto lleva un registro de los barcos que entran en la bahía, y no "
    "se ha perdido una página desde que se puso la primera piedra del muelle.",
    "Russian": "Смотритель гавани ведёт журнал, и в нём записан каждый корабль, который пришёл в "
    "бухту; он не оставил его с тех пор, как на берегу положен первый камень, а также погода.",
    "Hebrew": "מנהל הנמל רושם את כל אוניה של הים אשר באה אל המפרץ, הוא לא עזב את הספר מאז הונחה "
    "האבן הראשונה של הרציף, וגם מזג האוויר כתוב על כל דף כי זה חשוב עם כל זאת",
    "Arabic": "يكتب مدير الميناء في كتاب كل سفينة تدخل إلى الخليج من البحر، و هذا الكتاب لا يترك "
    "الميناء في أي يوم من أيام السنة التي مرت على الحجر الأول من الرصيف كما كان",
    "Korean": "항구의 책임자는 만으로 들어오는 모든 배를 기록한다. 그는 부두의 첫 돌이 놓인 날부터 "
    "기록을 멈추지 않았고 날씨도 함께 적었다. 모든 배의 이름과 선장의 이름이 장부에 있다. "
    "그리고 화물을 적는 사람도 매일 아침 부두에서 일을 시작한다.",
    "Japanese": "港の責任者は湾に入るすべての船を記録している。"
    "彼はこの日から記録をやめたことがない"
    "。天気も書いてある。",
}


@pytest.mark.parametrize("language", PROSE)
def test_prose_is_language(language: str) -> None:
    assert is_language(words_of(PROSE[language]))


def _other_letters(text: str) -> str:
    """Letters mapped to wrong ones, as by a font whose map of characters is wrong."""
    wrong = list("abcdefghijklmnopqrstuvwxyz")
    random.Random(7).shuffle(wrong)
    return text.lower().translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "".join(wrong)))


@pytest.mark.parametrize("language", ["English", "German", "French", "Spanish"])
def test_wrong_letters_are_not_language(language: str) -> None:
    assert not is_language(words_of(_other_letters(PROSE[language])))


def test_a_table_of_numbers_and_a_short_text_are_not_surely_language() -> None:
    assert not is_language(words_of("1,204 77.3 Total 12 " * 30))
    assert not is_language(words_of("The end of it"))


def test_numbers_come_first_beside_what_was_read_for_them() -> None:
    layer = "Invoice 2026-0417\nThe sum of 1,234.56 EUR is payable to the harbour"
    found = compare(layer, "Invoice 2026-0417\nThe sum of 1,284.56 EUR is payab1e to the harbour")
    assert found.differs[0].model_dump() == {"layer": "1,234.56", "reading": "1,284.56"}
    assert "payable" in [one.layer for one in found.differs]
    assert 0 < found.score < 0.5


def test_order_case_joined_words_and_markup_are_no_difference() -> None:
    assert agreement("The harbour master\nkeeps 1 log", "| keeps 1 LOG | the harbourmaster |") == 1


def test_a_changed_number_weighs_more_than_a_word() -> None:
    layer = f"{WORDS * 5} 17.20 18.30 19.40 20.50"
    assert agreement(layer, layer.replace("17.20", "71.20")) <= 0.75
    assert agreement(layer, layer.replace("quay", "key")) > 0.95


def test_running_heads_may_be_left_out() -> None:
    lines = WORDS.split(". ") * 5
    layer = "\n".join(["Annual report of the museum", *lines, "Page 17 of 99"])
    assert agreement(layer, "\n".join(lines)) == 1
    assert compare(layer, "\n".join(lines)).score > 0


@pytest.mark.parametrize("language", PROSE)
def test_an_answer_of_another_page_is_unrelated(language: str) -> None:
    layer = PROSE[language] * 2
    assert is_unrelated(layer, "APPROVED")
    assert is_unrelated(layer, "I'm sorry, but there is nothing that I may transcribe here.")
    assert not is_unrelated(layer, PROSE[language])
    assert not is_unrelated(layer, layer[: len(layer) // 3]), "a part of it is of this page"


@pytest.mark.parametrize(
    "layer",
    ["Page 7", _other_letters(WORDS) * 3, "■♥ t❤❡ ❝❛s❡ " * 40, "1,204 77.3 " * 60],
    ids=["tiny", "wrong letters", "symbols", "numbers"],
)
def test_a_layer_that_proves_nothing_condemns_no_answer(layer: str) -> None:
    assert not is_unrelated(layer, "A page of quite another sort, rightly read by a model.")


def test_a_hostile_page_costs_no_time() -> None:
    """Words that all differ, a million letters of them."""
    layer = " ".join(f"w{n:x}ord" for n in range(120_000))
    assert compare(layer, layer[::-1]).score > 0.5
