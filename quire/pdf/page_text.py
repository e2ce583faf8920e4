"""The text layer of a page in the order a person reads it. Runs in the child process.

MuPDF gives it in the order in which it was drawn: the foot first, or the columns of a table.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

from quire.domain.layout.box import Point
from quire.domain.layout.letters import mend_expansions, resolve_ligatures
from quire.domain.layout.order import in_reading_order
from quire.domain.layout.script import runs_leftwards
from quire.domain.layout.slant import Piece, straighten

# (x0, y0, x1, y1, text, block, line, place in the line), as MuPDF gives a word.
MuWord = tuple[Any, ...]
Place = tuple[int, int]

# Alef before lam: the article, or lam-alef turned around.
_ALEF_LAM = re.compile("[اأإآ]ل")
_UPRIGHT = 0
# The sine of an angle from which on a line is neither level nor upright.
_OBLIQUE = 0.26
_TALL = 1.5
# By quarter turns to the right: where a point is once its line is turned to be level.
_LEVEL: tuple[Callable[[float, float], Point], ...] = (
    lambda x, y: (x, y),
    lambda x, y: (y, -x),
    lambda x, y: (-x, -y),
    lambda x, y: (-y, x),
)


def page_text(textpage: Any, words: Sequence[MuWord], as_drawn: str) -> str:
    """The words in reading order, ligatures resolved; `as_drawn` if any letter would be lost."""
    lines: dict[Place, list[MuWord]] = defaultdict(list)
    for word in words:
        lines[word[5], word[6]].append(word)
    texts = {place: " ".join(word[4] for word in line) for place, line in lines.items()}
    if _ALEF_LAM.search(as_drawn):
        texts |= _mended(textpage, texts)
    turns = _turns(textpage, lines, texts)
    groups: dict[int | None, list[Place]] = defaultdict(list)
    for place in lines:
        groups[turns.get(place, _UPRIGHT)].append(place)
    # What is turned against the rest is a stamp at the edge, a label, the head of a column.
    in_order = sorted(groups, key=lambda turn: -sum(len(texts[p]) for p in groups[turn]))
    parts = [_group_text(turn, groups[turn], lines, texts) for turn in in_order]
    text = "\n\n".join(parts)
    # The words are what is set in order: only their number can tell that some are missing.
    if len("".join(text.split())) != len("".join(as_drawn.split())):
        text = as_drawn
    return resolve_ligatures(text)


def _group_text(
    turn: int | None,
    places: Iterable[Place],
    lines: dict[Place, list[MuWord]],
    texts: dict[Place, str],
) -> str:
    if turn is None:
        return "\n".join(texts[place] for place in places)
    pieces = [_piece(lines[place], texts[place], _LEVEL[turn]) for place in places]
    return in_reading_order(straighten(pieces))


def _piece(words: list[MuWord], text: str, level: Callable[[float, float], Point]) -> Piece:
    """A line by its corners: it may be slanted, though the boxes of its words never are."""
    boxes = []
    for word in words:
        (xa, ya), (xb, yb) = level(word[0], word[1]), level(word[2], word[3])
        boxes.append((min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb)))
    boxes.sort()
    first, last = boxes[0], max(boxes, key=lambda box: box[2])
    half = median(box[3] - box[1] for box in boxes) / 2
    y0, y1 = (first[1] + first[3]) / 2, (last[1] + last[3]) / 2
    corners = (
        (first[0], y0 - half),
        (last[2], y1 - half),
        (last[2], y1 + half),
        (first[0], y0 + half),
    )
    return Piece(corners, text)


def _turns(
    textpage: Any, lines: dict[Place, list[MuWord]], texts: dict[Place, str]
) -> dict[Place, int | None]:
    """Lines that are not level: how they are turned in quarters, None for those between.

    MuPDF's directions cost as much as its words, so they are asked for only where a line looks
    turned.
    """
    if not any(_looks_turned(line, texts[place]) for place, line in lines.items()):
        return {}
    found: dict[Place, int | None] = {}
    for place, line in _lines_of(textpage.extractDICT()):
        x, y = line["dir"]
        if line["wmode"]:
            continue  # written downwards: its letters stand upright
        if min(abs(x), abs(y)) > _OBLIQUE:
            found[place] = None
        elif abs(y) > abs(x):
            found[place] = 1 if y > 0 else 3
        elif x < 0:
            found[place] = 2
    return found


def _looks_turned(words: list[MuWord], text: str) -> bool:
    if len(text) < 2:
        return False
    first, last = words[0], words[-1]
    height = max(word[3] for word in words) - min(word[1] for word in words)
    width = max(word[2] for word in words) - min(word[0] for word in words)
    if height > _TALL * width:
        return True
    upside_down = first[0] > last[2]
    return upside_down and not runs_leftwards([text])


def _mended(textpage: Any, texts: dict[Place, str]) -> dict[Place, str]:
    """The lines in which a glyph of several letters was turned around, in their right order."""
    found: dict[Place, str] = {}
    for place, line in _lines_of(textpage.extractRAWDICT()):
        if not _ALEF_LAM.search(texts.get(place, "")):
            continue
        glyphs = [
            (char["c"], char["bbox"][2] - char["bbox"][0])
            for span in line["spans"]
            for char in span["chars"]
        ]
        mended = " ".join(mend_expansions(glyphs).split())
        if _letters(mended) == _letters(texts[place]):
            found[place] = mended
    return found


def _lines_of(extracted: dict[str, Any]) -> Iterable[tuple[Place, dict[str, Any]]]:
    for block in extracted["blocks"]:
        for number, line in enumerate(block.get("lines", ())):
            yield (block["number"], number), line


def _letters(text: str) -> list[str]:
    return sorted("".join(text.split()))
