"""Classification of made pages, each with a trap in it, and of bare signals."""

from typing import Any

import pytest

from quire.contracts.page import Classification
from quire.pdf.classify import PageSignals, classify
from quire.pdf.drawings import DrawingSignals
from quire.pdf.signals import CUT_MARK, MAX_TEXT_CHARS, measure_page
from quire.pdf.text_quality import TextQuality, measure_text
from testing.pdfs import pymupdf
from testing.prose import WORDS
from tests.pdf.pages import PAGES

EMPTY = TextQuality(0, 0, 0)
PROSE = TextQuality(chars=2000, bad_share=0.0, odd_word_share=0.0)


def made(draw: Any) -> Any:
    """The page as a reader of the finished file sees it."""
    with pymupdf.open() as document:
        draw(document.new_page())
        return pymupdf.open("pdf", document.tobytes())


@pytest.mark.parametrize("name", PAGES)
def test_made_page(name: str) -> None:
    expected, draw = PAGES[name]
    with made(draw) as document:
        signals = measure_page(document[0]).signals
    verdict, reason = classify(signals)
    assert verdict == expected, f"{reason}: {signals}"
    assert reason


def test_every_class_is_among_the_made_pages() -> None:
    assert {expected for expected, _ in PAGES.values()} == set(Classification)


def test_the_text_of_a_page_comes_with_its_signals() -> None:
    with made(lambda page: page.insert_text((72, 72), "Smörgåsbord naïve Łódź")) as document:
        text = measure_page(document[0]).text
    assert text.startswith("Smörgåsbord naïve")


def test_absurdly_long_text_is_cut_and_says_so() -> None:
    line = "a" * 50 + "\n"
    with made(lambda page: page.insert_text((9, 72), line * 21_000, fontsize=0.02)) as document:
        text = measure_page(document[0]).text
    assert len(text) == MAX_TEXT_CHARS
    assert text.endswith(CUT_MARK)


@pytest.mark.parametrize(
    ("signals", "expected", "said"),
    [
        (PageSignals(PROSE), Classification.TEXT_ONLY, "2000 characters"),
        (PageSignals(EMPTY), Classification.BLANK, "nothing"),
        (PageSignals(EMPTY, damaged=True), Classification.BLANK, "damaged"),
        (PageSignals(EMPTY, image_share=1, ink=0.0), Classification.BLANK, "ink"),
        (
            PageSignals(EMPTY, image_share=1, ink=0.02),
            Classification.SCANNED,
            "no text",
        ),
        (PageSignals(PROSE, image_share=1, hidden_text_share=1), Classification.SCANNED, "OCR"),
        (PageSignals(TextQuality(900, 0.3, 0)), Classification.SCANNED, "unknown glyphs"),
        (PageSignals(TextQuality(900, 0, 0.6)), Classification.SCANNED, "nonsense"),
        (PageSignals(PROSE, paths=9000), Classification.HAS_GRAPHICS, "9000 paths"),
        (PageSignals(PROSE, numeric_rows=9), Classification.HAS_GRAPHICS, "9 aligned rows"),
        (
            PageSignals(PROSE, paths=9, drawings=DrawingSignals(grid_lines=(5, 3))),
            Classification.HAS_GRAPHICS,
            "5 lines across, 3 down",
        ),
    ],
)
def test_signals_alone_decide(signals: PageSignals, expected: Classification, said: str) -> None:
    verdict, reason = classify(signals)
    assert verdict == expected
    assert said in reason


def test_wording_knows_languages_from_noise() -> None:
    sound = [
        WORDS,
        "Le musée rouvrira ses portes dès que les travaux de la jetée seront achevés cet été",
        "Der Angstschweiß des Hafenmeisters trocknete erst nach dem Herbststurm auf der Mole ganz",
        "The HTTP and HTML specifications of the W3C mention CSSStyleSheet and getElementById too",
        "Συγγραφέας του βιβλίου είναι ένας παλιός φαροφύλακας που ζει ακόμη στο νησί με γάτες",
    ]
    for text in sound:
        assert measure_text(text).odd_word_share < 0.2, text
    assert measure_text("jkhgf rtzpl wqsdf bnmvc " * 5).odd_word_share > 0.8
    assert measure_text("\ufffd\ufffd\ue001 abc").bad_share == 0.5
