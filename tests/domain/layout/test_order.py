"""Lines, columns and gaps, from boxes alone; on made-up pages, also slanted and noisy ones."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.domain.layout.box import Box
from quire.domain.layout.order import in_reading_order
from quire.domain.layout.slant import Piece, slant, straighten
from tests.domain.layout.pages import MadePage


def _row(top: float, *cells: tuple[float, float, str]) -> list[Box]:
    return [Box(left, top, right, top + 20, text) for left, right, text in cells]


def test_nothing_is_nothing() -> None:
    assert in_reading_order([]) == ""
    assert in_reading_order([Box(0, 0, 1, 1, "  ")]) == ""


def test_boxes_on_one_line_are_joined_from_the_left() -> None:
    boxes = _row(100, (300, 400, "right"), (10, 100, "left")) + _row(60, (10, 90, "above"))
    assert in_reading_order(boxes) == "above\nleft right"


def test_slightly_slanted_line_stays_one_line() -> None:
    boxes = [Box(10 + 100 * n, 100 + n * 2, 100 + 100 * n, 120 + n * 2, str(n)) for n in range(4)]
    assert in_reading_order(boxes) == "0 1 2 3"


def test_gap_becomes_an_empty_line() -> None:
    boxes = [Box(0, top, 500, top + 20, str(top)) for top in (0, 24, 48, 120, 144)]
    assert in_reading_order(boxes) == "0\n24\n48\n\n120\n144"


def _two_columns() -> list[Box]:
    boxes = []
    for line in range(8):
        boxes += _row(
            200 + 24 * line,
            (50, 380 - line % 3 * 10, f"left column line {line}"),
            (420, 750 - line % 2 * 20, f"right column line {line}"),
        )
    return boxes


def test_two_columns_are_read_one_after_the_other() -> None:
    title = Box(150, 100, 650, 140, "A title across both columns")
    foot = Box(200, 500, 600, 520, "A footer across both columns")
    boxes = [*_two_columns(), foot, title]
    random.Random(7).shuffle(boxes)
    lines = [line for line in in_reading_order(boxes).splitlines() if line]
    left = [f"left column line {n}" for n in range(8)]
    right = [f"right column line {n}" for n in range(8)]
    assert lines == [title.text, *left, *right, foot.text]


def test_table_is_read_row_by_row() -> None:
    boxes = []
    for row in range(8):
        cells = ((50, 150, f"item {row}"), (300, 340, f"{row}"), (600, 680, f"{row}.50"))
        boxes += _row(100 + 30 * row, *cells)
    assert in_reading_order(boxes).splitlines()[0] == "item 0 0 0.50"


def test_label_and_value_form_is_read_row_by_row() -> None:
    boxes = []
    for row, (label, value) in enumerate([("Name", "Ada Lovelace"), ("Born", "1815")] * 4):
        boxes += _row(100 + 30 * row, (50, 120, label), (420, 560, value))
    assert in_reading_order(boxes).splitlines()[:2] == ["Name Ada Lovelace", "Born 1815"]


PAGES: dict[str, Callable[[MadePage], MadePage]] = {
    "one column": lambda page: page.across(40),
    "two columns": lambda page: page.columns(2, 40),
    "a head over two columns": lambda page: page.across(3).columns(2, 36),
    "an abstract over two columns": lambda page: page.across(1, 0.5).across(12).columns(2, 25),
    "few columns in a wide text": lambda page: page.across(25).columns(2, 10).across(6),
    "a short one of them": lambda page: page.across(20).columns(2, 5).across(10),
    "three columns": lambda page: page.across(2, 0.7).columns(3, 40),
    "two, then three": lambda page: (
        page.across().columns(2, 15).across(2).columns(3, 14).across(1, 0.3)
    ),
    "four columns": lambda page: page.across().columns(4, 40, gutter=30),
    "columns that end early": lambda page: page.across().columns(3, 40, uneven=10),
    "bands of a few lines": lambda page: (
        page.columns(2, 3).across().columns(2, 20).across(2).columns(2, 2).across()
    ),
    "a narrow gutter": lambda page: page.across(2).columns(2, 40, gutter=20),
}


@pytest.mark.parametrize("degrees", [0.0, 1.0, -2.0, 3.0])
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_read_as_they_were_written(name: str, degrees: float) -> None:
    for seed in range(3):
        page = PAGES[name](MadePage(seed))
        text = in_reading_order(straighten(page.scanned(degrees, noise=2.0)))
        assert [line for line in text.splitlines() if line] == page.texts


def test_columns_of_hebrew_are_read_from_the_right() -> None:
    page = MadePage().across().columns(2, 12, leftwards=True)
    hebrew = str.maketrans("abcdefghijklmnopqrstuvwxyz", "אבגדהוזחטיכלמנסעפצקרשתאבגד")
    page.lines = [(*line[:4], line[4].translate(hebrew)) for line in page.lines]
    # A line in two pieces, too: the right one comes first.
    left, top, right, bottom, text = page.lines[0]
    words = text.split(" ")
    half = len(words) // 2
    pieces = [
        (left, top, (left + right) / 2 - 20, bottom, " ".join(words[half:])),
        ((left + right) / 2 + 20, top, right, bottom, " ".join(words[:half])),
    ]
    expected = page.texts
    page.lines[:1] = pieces
    lines = in_reading_order(straighten(page.scanned())).splitlines()
    assert [line for line in lines if line] == expected


def _column(x: float, top: float, text: str) -> Box:
    return Box(x, top, x + 20, top + 22 * len(text), text)


def test_columns_of_japanese_are_read_from_the_right() -> None:
    texts = ["吾輩は猫である。名前は", "まだ無い。どこで生れた", "かとんと見当がつかぬ。"]
    boxes = [_column(500 - 40 * n, 100, text) for n, text in enumerate(texts)]
    assert in_reading_order(boxes[::-1]) == "\n".join(texts)
    # The same with every letter for itself.
    letters = [
        Box(500 - 40 * n, 100 + 22 * m, 520 - 40 * n, 120 + 22 * m, letter)
        for n, text in enumerate(texts)
        for m, letter in enumerate(text)
    ]
    random.Random(3).shuffle(letters)
    assert in_reading_order(letters) == "\n".join(texts)


def test_tiers_of_japanese_columns_are_read_one_after_the_other() -> None:
    upper = [f"上段の{n}行目は猫について書かれている" for n in "一二三四五六"]
    lower = [f"下段の{n}行目は犬について書かれている" for n in "一二三四五六"]
    boxes = [_column(500 - 40 * n, 100, text) for n, text in enumerate(upper)]
    boxes += [_column(500 - 40 * n, 600, text) for n, text in enumerate(lower)]
    random.Random(5).shuffle(boxes)
    lines = [line for line in in_reading_order(boxes).splitlines() if line]
    assert lines == [*upper, *lower]


def test_running_heads_belong_to_no_column() -> None:
    page = MadePage().columns(2, 30)
    head = [(90.0, 20.0, 300.0, 42.0, "A journal"), (1000.0, 20.0, 1100.0, 42.0, "page 7")]
    expected = ["A journal page 7", *page.texts]
    page.lines += head
    lines = in_reading_order(straighten(page.scanned())).splitlines()
    assert [line for line in lines if line] == expected


def test_a_large_initial_begins_its_first_line() -> None:
    texts = ("he harbour master", "keeps a log", "of every ship")
    lines = [Box(56, 2 + 24 * n, 500, 22 + 24 * n, text) for n, text in enumerate(texts)]
    boxes = [*lines, Box(0, 0, 50, 70, "T")]
    assert in_reading_order(boxes) == "The harbour master\nkeeps a log\nof every ship"


def test_the_slant_is_that_of_most_of_the_text() -> None:
    flat = Piece(((0, 0), (100, 0), (100, 10), (0, 10)), "flat")
    steep = Piece(((0, 0), (0, 100), (-10, 100), (-10, 0)), "a label of a chart")
    assert slant([flat, flat, steep, steep, steep]) == 0
    assert slant([]) == 0
    assert 0.017 < slant(MadePage().across(9).scanned(1.0)) < 0.018


PLACES = st.integers(0, 400).map(float)
ANY_BOXES = st.lists(
    st.builds(
        lambda x, y, w, h, text: Box(x, y, x + w, y + h, text),
        PLACES, PLACES, PLACES, PLACES, st.text("ab cאב猫\n", max_size=12),
    ),
    max_size=40,
)  # fmt: skip


@given(ANY_BOXES)
def test_nothing_is_lost_or_invented(boxes: list[Box]) -> None:
    text = in_reading_order(boxes)
    given_ = Counter(char for box in boxes for char in box.text if not char.isspace())
    assert Counter(char for char in text if not char.isspace()) == given_


def test_listing_with_remarks_is_read_row_by_row() -> None:
    boxes = []
    for row in range(12):
        boxes += _row(
            100 + 24 * row, (50, 210, f"mov edx, ebx({row})"), (300, 720, f"// load the {row}th")
        )
    assert in_reading_order(boxes).splitlines()[3] == "mov edx, ebx(3) // load the 3th"


def test_wide_table_of_numbers_is_read_row_by_row() -> None:
    boxes = []
    for row in range(20):
        numbers = [(200 + 60 * n, 230 + 60 * n, f"{row}.{n}0x") for n in range(9)]
        boxes += _row(100 + 24 * row, (50, 150, f"string-fasta-{row}"), *numbers)
    first = in_reading_order(boxes).splitlines()[0]
    assert first == "string-fasta-0 " + " ".join(f"0.{n}0x" for n in range(9))


def test_box_of_facts_beside_the_text_is_read_after_it() -> None:
    page = MadePage().across().columns(2, 30)
    last = len(page.lines) - 30
    facts = [("Born", "8 July 943"), ("Died", "975, aged 31"), ("Father", "Edmund the First")]
    for n, (left, top, _, bottom, _) in enumerate(page.lines[last:]):
        label, value = facts[n % 3]
        page.lines[last + n] = (left, top, left + 60, bottom, label)
        page.lines.append((left + 160, top, left + 330, bottom, value))
    text = in_reading_order(straighten(page.scanned()))
    lines = [line for line in text.splitlines() if line]
    assert lines[:31] == page.texts[:31]
    assert lines[31:] == [" ".join(facts[n % 3]) for n in range(30)]
