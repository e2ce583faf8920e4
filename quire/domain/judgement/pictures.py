"""Words in pictures, which no text layer has, put where they stand in the layer's text."""

from collections.abc import Sequence

from quire.domain.counts import counted
from quire.domain.document.transcription import ReadLine
from quire.domain.judgement.words import share_found, words_of

# (left, top, right, bottom) as shares of the page.
Area = tuple[float, float, float, float]
# A line that was read so well, and that the layer does not have.
WELL_READ_LINE, _ABSENT = 0.9, 0.5
# Shorter lines are the ticks of an axis, or shapes taken for letters.
_LEAST_LETTERS = 3
_ABOVE = 0.01


def turn_left(area: Area, quarters: int) -> Area:
    """Where the area is once the page was turned to the left: lines stand on the page as it was
    read, pictures as it was drawn."""
    for _ in range(quarters):
        left, top, right, bottom = area
        area = (top, 1.0 - right, bottom, 1.0 - left)
    return area


def add_pictures(
    layer: str, pictures: Sequence[Area], lines: Sequence[ReadLine]
) -> tuple[str, str]:
    """The layer with the lines that were read in these pictures, and how many in words."""
    known = words_of(layer)
    found: dict[Area, list[ReadLine]] = {}
    for line in lines:
        words = words_of(line.text)
        absent = words.letters >= _LEAST_LETTERS and share_found(words, known) < _ABSENT
        if absent and line.score >= WELL_READ_LINE and (area := _around(pictures, line)):
            found.setdefault(area, []).append(line)
    text = layer.split("\n") if layer.strip() else []
    # From the last to the first, so that places found before stay where they are.
    placed = sorted(((_place(text, area, lines), area) for area in found), reverse=True)
    for place, area in placed:
        text[place:place] = ["", *(line.text for line in found[area]), ""]
    count = sum(map(len, found.values()))
    return "\n".join(text).strip("\n") if count else layer, counted(count, "line") if count else ""


def _around(pictures: Sequence[Area], line: ReadLine) -> Area | None:
    left, top, right, bottom = line.box
    x, y = (left + right) / 2, (top + bottom) / 2
    return next((p for p in pictures if p[0] <= x <= p[2] and p[1] <= y <= p[3]), None)


def _place(text: Sequence[str], area: Area, lines: Sequence[ReadLine]) -> int:
    """Behind the line of the layer that was read nearest above the picture, in its columns."""
    left, top, right, _ = area
    above = [
        line
        for line in lines
        if line.box[3] <= top + _ABOVE and line.box[0] < right and line.box[2] > left
    ]
    for line in sorted(above, key=lambda one: -one.box[3]):
        words = words_of(line.text)
        for number, own in enumerate(text):
            if words.letters >= _LEAST_LETTERS and words.stream in words_of(own).stream:
                return number + 1
    return 0 if not above else len(text)
