"""The empty strip between two columns, and the bands of a page in which it is one.

A table has such strips too. What separates columns of prose from it: enough rows that are wide and
wordy, with most of the words, on both sides.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from quire.domain.layout.box import Box, letter_height
from quire.domain.layout.rows import Row, rows_of
from quire.domain.layout.script import breadth

_COLUMN_ROWS = 4
_COLUMN_FILL = 0.5
_COLUMN_BREADTH = 12
_PROSE_SHARE = 0.6
# Running text, and what may stand beside it as a column of its own.
_RUNNING_ROWS = 8
_RUNNING_FILL = 0.85
_RUNNING_BREADTH = 25
_RUNNING_SHARE = 0.75
_NOTE_BREADTH = 10
# In letter heights: how near the middles of two rows are that stand on one line.
_ALIGNED = 0.25
_ALIGNED_SHARE = 0.8
_ALIGNED_BREADTH = 18
# In letter heights: how wide a gutter is at least, and by how much a box may reach into it.
_GUTTER_WIDTH = 0.5
_TOLERANCE = 0.15
# Pieces of one line that a wide blank has torn apart.
_SAME_LINE_GAP = 1.5
# Columns of two bands that begin no farther apart are the same columns.
_SAME_EDGE = 2.0
# Boxes that reach into a gutter by accident: noise, a footnote, a formula.
_NOISE_SHARE = 0.03
_CANDIDATES = 8


@dataclass(frozen=True)
class Band:
    """A part of the page from one height to another: columns on both sides, or not in columns."""

    boxes: tuple[Box, ...] = ()
    left: tuple[Box, ...] = ()
    right: tuple[Box, ...] = ()
    #: How much text is in lines that are as long as their column is wide.
    score: float = 0.0


def split_at_gutter(boxes: Sequence[Box]) -> list[Band] | None:
    """The bands of the gutter whose columns are the fullest; None if there is none."""
    height = letter_height(boxes)
    best, most = None, 0.0
    for x in _candidates(boxes, height):
        bands = _bands(boxes, x, height)
        score = sum(band.score for band in bands)
        if score > most:
            best, most = bands, score
    return best


def _candidates(boxes: Sequence[Box], height: float) -> list[float]:
    """Middles of strips that fewer boxes cross than the places beside them, the emptiest first."""
    strips = list(_strips(boxes, _TOLERANCE * height))
    noise = max(1, round(_NOISE_SHARE * len(boxes)))
    found: list[tuple[int, float, float]] = []
    for index, (left, right, crossing) in enumerate(strips[1:-1], 1):
        if strips[index - 1][2] <= crossing or strips[index + 1][2] <= crossing:
            continue
        first = last = index
        while first > 1 and strips[first - 1][2] <= crossing + noise:
            first -= 1
        while last < len(strips) - 2 and strips[last + 1][2] <= crossing + noise:
            last += 1
        width = strips[last][1] - strips[first][0]
        if width >= _GUTTER_WIDTH * height:
            found.append((crossing, -width, (left + right) / 2))
    return [x for _, _, x in sorted(found)[:_CANDIDATES]]


def _strips(boxes: Sequence[Box], tolerance: float) -> Iterator[tuple[float, float, int]]:
    """The page from left to right: every strip with the number of boxes that cross it."""
    edges: dict[float, int] = {}
    for box in boxes:
        inset = min(tolerance, box.width / 4)
        for x, step in ((box.left + inset, 1), (box.right - inset, -1)):
            edges[x] = edges.get(x, 0) + step
    count, last = 0, float("-inf")
    for x in sorted(edges):
        yield last, x, count
        count, last = count + edges[x], x
    yield last, float("inf"), count


def _bands(boxes: Sequence[Box], x: float, height: float) -> list[Band]:
    """The page cut at the boxes that cross x: what is between two of them may be in columns."""
    reach = _TOLERANCE * height
    low, high = x - reach, x + reach
    across = [box for box in boxes if box.left < low and box.right > high]
    across.sort(key=lambda b: b.middle)
    cuts = [wide.middle for wide in across]
    placed = [(box, bisect_left(cuts, box.middle)) for box in boxes]
    if not _enough(placed, len(cuts) + 1, x):
        return []
    between: list[list[Box]] = [[] for _ in range(len(cuts) + 1)]
    plain: list[list[Box]] = [[] for _ in range(len(cuts) + 1)]
    for box, at in placed:
        crosses = box.left < low and box.right > high
        near = across[max(0, at - 1) : at + 1]
        torn = crosses or any(_same_line(box, wide, height) for wide in near)
        (plain if torn else between)[at].append(box)
    return _joined(between, plain, x, _SAME_EDGE * height)


def _enough(placed: Sequence[tuple[Box, int]], bands: int, x: float) -> bool:
    """Whether any band has boxes for two columns: most candidates end here."""
    counts = [[0, 0] for _ in range(bands)]
    for box, at in placed:
        if box.right <= x:
            counts[at][0] += 1
        elif box.left >= x:
            counts[at][1] += 1
    return any(min(pair) >= _COLUMN_ROWS - 1 for pair in counts)


def _same_line(box: Box, wide: Box, height: float) -> bool:
    overlap = min(box.bottom, wide.bottom) - max(box.top, wide.top)
    gap = max(box.left - wide.right, wide.left - box.right)
    beside = overlap > 0.6 * min(box.height, wide.height)
    return beside and -_TOLERANCE * height < gap < _SAME_LINE_GAP * height


def _joined(between: list[list[Box]], plain: list[list[Box]], x: float, near: float) -> list[Band]:
    """Bands in columns as they are; all else, with the boxes across, as bands without columns."""
    sides = [
        (
            tuple(box for box in band if box.centre < x),
            tuple(box for box in band if box.centre >= x),
        )
        for band in between
    ]
    scores = [_score(*pair) for pair in sides]
    edges = [_edges(pair) for pair, score in zip(sides, scores, strict=True) if score]
    bands: list[Band] = []
    rest: list[Box] = []
    for (left, right), score, line in zip(sides, scores, plain, strict=True):
        # A gutter that is certain elsewhere on the page is believed for a few lines too.
        if score or (left and right and _continues((left, right), edges, near)):
            if rest:
                bands.append(Band(boxes=tuple(rest)))
            rest = []
            bands.append(Band(left=left, right=right, score=score))
        else:
            rest += [*left, *right]
        rest += line
    if rest:
        bands.append(Band(boxes=tuple(rest)))
    return bands


def _score(left: Sequence[Box], right: Sequence[Box]) -> float:
    """Above 0 if both sides are columns, or one is a note beside the running text of the other."""
    if min(len(left), len(right)) < _COLUMN_ROWS:
        return 0.0
    a, b = _measure(left), _measure(right)
    beside = (a.is_running and b.is_note) or (b.is_running and a.is_note)
    columns = a.is_column and b.is_column
    # Where every row has one beside it, short ones are the cells of a table or a listing.
    if columns and min(a.typical, b.typical) < _ALIGNED_BREADTH:
        columns = not _are_aligned(a, b)
    return a.score + b.score if beside or columns else 0.0


def _are_aligned(a: "_Side", b: "_Side") -> bool:
    fewer, more = sorted((a.middles, b.middles), key=len)
    near = _ALIGNED * min(a.height, b.height)
    matched = sum(_nearest(more, middle) < near for middle in fewer)
    return matched >= _ALIGNED_SHARE * len(fewer)


def _nearest(middles: Sequence[float], wanted: float) -> float:
    at = bisect_left(middles, wanted)
    return min(abs(middle - wanted) for middle in middles[max(0, at - 1) : at + 1])


@dataclass(frozen=True)
class _Side:
    """What the rows on one side of a gutter are like: wordy or not, as wide as the side or not."""

    middles: tuple[float, ...]
    height: float
    typical: float
    prose: int
    full: int
    wordy: int
    prose_words: int
    words: int
    score: float

    @property
    def is_column(self) -> bool:
        # By words and not by rows: the labels of one figure are many rows.
        return self.prose >= _COLUMN_ROWS and self.prose_words >= _PROSE_SHARE * self.words

    @property
    def is_running(self) -> bool:
        rows = len(self.middles)
        return rows >= _RUNNING_ROWS and self.full >= _RUNNING_SHARE * rows

    @property
    def is_note(self) -> bool:
        # Bullets and numbers belong to the lines beside them.
        return self.wordy >= _COLUMN_ROWS


def _measure(boxes: Sequence[Box]) -> _Side:
    width = max(1e-6, max(box.right for box in boxes) - min(box.left for box in boxes))
    found = rows_of(boxes)
    rows = [(_breadth(row), min(1.0, _filled(row) / width)) for row in found]
    prose = [words for words, fill in rows if words >= _COLUMN_BREADTH and fill >= _COLUMN_FILL]
    return _Side(
        middles=tuple(sorted((row.top + row.bottom) / 2 for row in found)),
        height=letter_height(boxes),
        typical=median(words for words, _ in rows),
        prose=len(prose),
        full=sum(words >= _RUNNING_BREADTH and fill >= _RUNNING_FILL for words, fill in rows),
        wordy=sum(_breadth(row) * len(row.boxes) >= _NOTE_BREADTH for row in found),
        prose_words=sum(prose),
        words=sum(words for words, _ in rows),
        score=sum(words * fill for words, fill in rows),
    )


def _continues(
    sides: tuple[Sequence[Box], ...], known: list[tuple[float, ...]], near: float
) -> bool:
    """Whether both sides begin where the known columns begin, and are prose."""
    here = _edges(sides)
    return any(
        all(abs(a - b) < near for a, b in zip(here, edges, strict=True)) for edges in known
    ) and all(_wordy(side) for side in sides)


def _wordy(boxes: Sequence[Box]) -> bool:
    return median(_breadth(row) for row in rows_of(boxes)) >= _COLUMN_BREADTH


def _edges(sides: tuple[Sequence[Box], ...]) -> tuple[float, ...]:
    return tuple(min(box.left for box in side) for side in sides)


def _breadth(row: Row) -> int:
    """How much a box of the row says: many short ones are cells."""
    return sum(breadth(box.text) for box in row.boxes) // len(row.boxes)


def _filled(row: Row) -> float:
    return sum(box.width for box in row.boxes)
