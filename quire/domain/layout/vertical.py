"""Text that is written from top to bottom, its columns from right to left, as rows of a page."""

from collections.abc import Sequence

from quire.domain.layout.box import Box
from quire.domain.layout.script import column_letters

_TALL = 1.5
# In sizes of a letter: how far apart letters of one column are, and how far aside.
_APART = 0.8
_ASIDE = 0.5


def lay_down(boxes: Sequence[Box]) -> list[Box] | None:
    """The page turned so that its columns are rows; None if it is not written downwards."""
    counted = [(box, column_letters(box.text)) for box in boxes]
    letters = [box for box, count in counted if count == 1]
    others = [(box, count) for box, count in counted if count != 1]
    tall = sum(count for box, count in others if box.height > _TALL * box.width)
    wide = sum(count for _, count in others) - tall
    if tall > wide + len(letters):
        return [_turned(box) for box in boxes]
    if len(letters) > 2 * (tall + wide):
        # Every letter stands alone: they belong to what they are nearer to, below or beside.
        columns = _chains([_turned(box) for box in letters])
        rows = _chains(letters)
        if len(columns) < len(rows):
            return columns + [_turned(box) for box, _ in others]
    return None


def _turned(box: Box) -> Box:
    """By a quarter: what was at the right is at the top, what was at the top is at the left."""
    return Box(box.top, -box.right, box.bottom, -box.left, box.text)


def _chains(letters: Sequence[Box]) -> list[Box]:
    """Letters side by side joined to runs."""
    chains: list[list[Box]] = []
    open_chains: list[list[Box]] = []
    for letter in sorted(letters, key=lambda b: (b.left, b.middle)):
        open_chains = [c for c in open_chains if letter.left - c[-1].right < _APART * c[-1].width]
        for chain in open_chains:
            last = chain[-1]
            aside = abs(letter.middle - last.middle)
            if letter.left > last.centre and aside < _ASIDE * max(last.height, letter.height):
                chain.append(letter)
                break
        else:
            chains.append([letter])
            open_chains.append(chains[-1])
    return [
        Box(
            chain[0].left,
            min(box.top for box in chain),
            chain[-1].right,
            max(box.bottom for box in chain),
            "".join(box.text.strip() for box in chain),
        )
        for chain in chains
    ]
