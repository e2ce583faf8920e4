"""One picture read by rapidocr, upright: in the engine's process only.

rapidocr's own pipeline shrinks the picture before it cuts the lines out, and pads the lines of a
batch to the longest. Here the places of lines are found on a small copy, the lines are cut from the
picture as it is, and each is read by itself, on as many threads as there are.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import cv2
import numpy

from quire.domain.layout.script import column_letters
from quire.domain.layout.slant import Piece, slant

# The shorter side of the copy on which lines are looked for, and its longest side.
_FIND_SIDE, _FIND_LONGEST = 736, 2000
# Lines lose no letter when they are so much narrower; what reads badly is read as it is.
_NARROW, _READS_WELL = 0.85, 0.95
_LEAST_SCORE = 0.5
# Long lines that tell how the page lies, and the score of lines that lie right.
_SAMPLE, _UPRIGHT_SCORE = 6, 0.92
_TALL = 1.5
# What another way up must score more, to be believed.
_BETTER = 0.05
# Lines that are more aslant are cut out badly.
_STRAIGHTEN_FROM = math.radians(2.5)

Pixels = Any
Corners = Any


@dataclass(frozen=True)
class Found:
    """What was read on a page turned to the left by so many quarters."""

    pieces: list[Piece]
    scores: list[float]
    turn: int
    width: int
    height: int


class PageReader:
    """Finds the lines of a page and reads them."""

    def __init__(self, engine: Any, threads: int) -> None:
        from rapidocr.ch_ppocr_rec import TextRecInput

        self._find_lines, self._read_lines = engine.text_det, engine.text_rec
        self._input = TextRecInput
        self._threads = ThreadPoolExecutor(threads)

    def read(self, pixels: Pixels) -> Found:
        """The page's lines with their places on the page as it lies when it is upright."""
        boxes = self._boxes(pixels)
        turn, known = self._turn(pixels, boxes)
        if turn:
            pixels = numpy.ascontiguousarray(numpy.rot90(pixels, turn))
            boxes, known = self._boxes(pixels), {}
        height, width = pixels.shape[:2]
        level, boxes, back = self._straight(pixels, boxes)
        if level is not pixels:
            known = {}
        rest = [n for n in range(len(boxes)) if n not in known]
        known |= zip(rest, self._read([_cut(level, boxes[n]) for n in rest]), strict=True)
        read = [known[n] for n in range(len(boxes))]
        kept = [
            (Piece(_corners(back(box)), text), score)
            for box, (text, score) in zip(boxes, read, strict=True)
            if text.strip() and score >= _LEAST_SCORE
        ]
        return Found([p for p, _ in kept], [s for _, s in kept], turn, width, height)

    def turn(self, pixels: Pixels) -> int:
        """By how many quarters to the left the page must be turned to be upright."""
        return self._turn(pixels, self._boxes(pixels))[0]

    def _boxes(self, pixels: Pixels) -> list[Corners]:
        height, width = pixels.shape[:2]
        zoom = min(_FIND_SIDE / min(height, width), _FIND_LONGEST / max(height, width), 1.0)
        size = (max(1, round(width * zoom)), max(1, round(height * zoom)))
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if zoom < 1 else pixels
        found = self._find_lines(small).boxes
        if found is None:
            return []
        scale = numpy.array([width / size[0], height / size[1]], numpy.float32)
        return [box.astype(numpy.float32) * scale for box in found]

    def _turn(
        self, pixels: Pixels, boxes: Sequence[Corners]
    ) -> tuple[int, dict[int, tuple[str, float]]]:
        """Quarters to the left, and the lines that were read for it, by their numbers.

        Tall lines lie on their side, or are written downwards; lines that read badly may stand on
        their heads. A few of them are read both ways.
        """
        sizes = [_size(box) for box in boxes]
        tall = [(h, n) for n, (w, h) in enumerate(sizes) if h > _TALL * w]
        wide = [(w, n) for n, (w, h) in enumerate(sizes) if w > _TALL * h]
        lying = sum(length for length, _ in tall) > sum(length for length, _ in wide)
        long = sorted(tall if lying else wide, reverse=True)
        # The longest may be two lines that were taken for one.
        step = max(1, len(long) // (2 * _SAMPLE))
        sample = [n for _, n in long[::step][:_SAMPLE]]
        cuts = [_cut(pixels, boxes[n]) for n in sample]
        read = self._read(cuts)
        known = dict(zip(sample, read, strict=True))
        score = _mean(read)
        if not sample or (score >= _UPRIGHT_SCORE and not lying):
            return 0, known
        other = _mean(self._read([numpy.rot90(cut, 2) for cut in cuts]))
        if not lying:
            return 2 if other > score + _BETTER else 0, known
        if other > score:
            return 3, known
        # Ideographs in tall lines are written downwards: the page is upright.
        text = "".join(text for text, _ in read)
        return 0 if 2 * column_letters(text) > len(text) else 1, known

    def _straight(self, pixels: Pixels, boxes: list[Corners]) -> tuple[Pixels, list[Corners], Any]:
        """The page with its lines level, where they are far from it, and the way back."""
        angle = slant([Piece(_corners(box), "") for box in boxes])
        if abs(angle) < _STRAIGHTEN_FROM:
            return pixels, boxes, lambda box: box
        height, width = pixels.shape[:2]
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), math.degrees(angle), 1.0)
        cos, sin = abs(math.cos(angle)), abs(math.sin(angle))
        size = (math.ceil(width * cos + height * sin), math.ceil(height * cos + width * sin))
        matrix[:, 2] += ((size[0] - width) / 2, (size[1] - height) / 2)
        level = cv2.warpAffine(
            pixels, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        back = cv2.invertAffineTransform(matrix)
        return level, self._boxes(level), lambda box: box @ back[:, :2].T + back[:, 2]

    def _read(self, cuts: Sequence[Pixels]) -> list[tuple[str, float]]:
        return list(self._threads.map(self._read_line, cuts))

    def _read_line(self, cut: Pixels) -> tuple[str, float]:
        height, width = cut.shape[:2]
        narrow = cv2.resize(
            cut, (max(1, round(width * _NARROW)), height), interpolation=cv2.INTER_AREA
        )
        text, score = self._recognise(narrow)
        if score < _READS_WELL:
            again = self._recognise(cut)
            text, score = max((text, score), again, key=lambda read: read[1])
        return text, score

    def _recognise(self, cut: Pixels) -> tuple[str, float]:
        read = self._read_lines(self._input(img=[cut]))
        return str(read.txts[0]), float(read.scores[0])


def _mean(read: Sequence[tuple[str, float]]) -> float:
    letters = sum(len(text) for text, _ in read)
    return sum(score * len(text) for text, score in read) / letters if letters else 0.0


def _size(box: Corners) -> tuple[float, float]:
    a, b, c, d = box
    width = max(numpy.linalg.norm(a - b), numpy.linalg.norm(c - d))
    height = max(numpy.linalg.norm(a - d), numpy.linalg.norm(b - c))
    return float(width), float(height)


def _cut(pixels: Pixels, box: Corners) -> Pixels:
    """The line as a picture of its own; a tall one is turned by a quarter to the left."""
    width, height = (max(1, int(side)) for side in _size(box))
    target = numpy.array([[0, 0], [width, 0], [width, height], [0, height]], numpy.float32)
    matrix = cv2.getPerspectiveTransform(numpy.asarray(box, numpy.float32), target)
    cut = cv2.warpPerspective(
        pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return numpy.ascontiguousarray(numpy.rot90(cut)) if height >= _TALL * width else cut


def _corners(box: Corners) -> Any:
    return tuple((float(x), float(y)) for x, y in box)
