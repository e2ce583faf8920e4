"""The text layer in reading order, whatever the order in which it was drawn."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quire.pdf.child_process import survey_pages
from testing.pdfs import pymupdf

LONG = "and goes on so that it fills the whole of it"


def _survey(path: Path, draw: Callable[[Any], None]) -> Any:
    with pymupdf.open() as document:
        draw(document.new_page(width=595, height=842))
        document.save(path)
    (page,) = survey_pages(str(path), 1, 1, None, 1.0)
    return page


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_columns_and_foot_that_were_drawn_out_of_order(tmp_path: Path) -> None:
    left = [f"Left line {n} {LONG}" for n in range(12)]
    right = [f"Right line {n} {LONG}" for n in range(12)]

    def draw(page: Any) -> None:
        page.insert_text((280, 800), "Page 7", fontsize=9)
        for n in reversed(range(12)):
            page.insert_text((310, 120 + 14 * n), right[n], fontsize=9)
            page.insert_text((50, 124 + 14 * n), left[n], fontsize=9)
        page.insert_text((60, 70), "A head over both columns of the page, drawn last", fontsize=18)

    expected = ["A head over both columns of the page, drawn last", *left, *right, "Page 7"]
    assert _lines(_survey(tmp_path / "a.pdf", draw).text) == expected


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_lines_are_read_in_their_own_order(tmp_path: Path, turn: int) -> None:
    lines = [f"Line {n} of the page {LONG}" for n in range(6)]
    steps = {90: (14, 0, 200, 700), 180: (0, -14, 500, 500), 270: (-14, 0, 400, 100)}
    across, down, x, y = steps[turn]

    def draw(page: Any) -> None:
        page.insert_text((20, 20), "stamp", fontsize=8)
        for n in reversed(range(6)):
            page.insert_text((x + across * n, y + down * n), lines[n], rotate=turn)

    assert _lines(_survey(tmp_path / "a.pdf", draw).text) == [*lines, "stamp"]


def test_japanese_columns_are_read_from_the_right(tmp_path: Path) -> None:
    columns = ["吾輩は猫である名前は", "まだ無いどこで生れた", "かとんと見当がつかぬ"]

    def draw(page: Any) -> None:
        writer = pymupdf.TextWriter(page.rect)
        for n, column in reversed(list(enumerate(columns))):
            for m, letter in enumerate(column):
                place = (500 - 30 * n, 100 + 18 * m)
                writer.append(place, letter, font=pymupdf.Font("cjk"), fontsize=16)
        writer.write_text(page)

    assert _lines(_survey(tmp_path / "a.pdf", draw).text) == columns


def test_ligatures_are_resolved_and_torn_words_joined(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        writer = pymupdf.TextWriter(page.rect)
        font = pymupdf.Font("tiro")
        writer.append((72, 100), "The of\ufb01ce keeps an exam-", font=font)
        writer.append((72, 116), "ple of every \ufb02ag.", font=font)
        writer.write_text(page)

    page = _survey(tmp_path / "a.pdf", draw)
    assert page.text == "The office keeps an example\nof every flag."
    assert page.text_with("join") == page.text
    assert page.text_with("keep") == "The office keeps an exam-\nple of every flag."


def test_text_without_torn_words_is_kept_once(tmp_path: Path) -> None:
    page = _survey(tmp_path / "a.pdf", lambda sheet: sheet.insert_text((72, 72), "Plain text."))
    assert page.unjoined == ""
    assert page.text_with("keep") == page.text_with("join") == "Plain text."
