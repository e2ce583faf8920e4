"""Lines, columns and gaps, from boxes alone."""

import random

from quire.providers.reading_order import Box, in_reading_order


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
