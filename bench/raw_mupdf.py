"""Raw MuPDF on the same pages: no limits, no classification, nothing that survives a hostile file.
The reference for survey and drawing, in one process or shared out over several."""

import io
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pymupdf as _pymupdf
from PIL import Image

from quire.contracts.reading import ImageOptions

pymupdf: Any = _pymupdf


@dataclass(frozen=True)
class Share:
    """Every `of`-th page of all documents together: so much of the work that one process does."""

    first: int = 0
    of: int = 1

    def pages(self, files: Sequence[Path]) -> Iterator[Any]:
        before = 0
        for path in files:
            with pymupdf.open(path) as document:
                count = document.page_count
                for number in range((self.first - before) % self.of, count, self.of):
                    yield document[number]
                before += count


WHOLE = Share()


def survey(files: Sequence[Path], share: Share = WHOLE) -> float:
    """Seconds to take text, drawings and images from every page."""
    started = time.perf_counter()
    for page in share.pages(files):
        page.get_text()
        page.get_cdrawings()
        page.get_image_info()
    return time.perf_counter() - started


@dataclass(frozen=True)
class Drawn:
    """Seconds to draw every page, and to encode what was drawn."""

    draw_s: float
    encode_s: float

    @property
    def seconds(self) -> float:
        return self.draw_s + self.encode_s


def render(files: Sequence[Path], options: ImageOptions, share: Share = WHOLE) -> Drawn:
    draw = encode = 0.0
    started = time.perf_counter()
    for page in share.pages(files):
        pixels = page.get_pixmap(dpi=options.dpi)
        drawn = time.perf_counter()
        draw += drawn - started
        size = (pixels.width, pixels.height)
        image = Image.frombuffer("RGB", size, pixels.samples_mv)
        image.save(io.BytesIO(), "JPEG", quality=options.jpeg_quality)
        del image  # it borrows the pixmap's memory, which must go last
        started = time.perf_counter()
        encode += started - drawn
    return Drawn(draw, encode)


class Together:
    """Raw MuPDF in several processes at once, the pages dealt out in turns: nothing is faster."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        # Not a fork: this process has threads and MuPDF children of its own. A call of this module
        # imports it, and while all of them sleep, all of them have begun.
        self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
        list(self._pool.map(_begun, range(processes)))

    def survey(self, files: Sequence[Path]) -> float:
        return self._timed(survey, files)

    def render(self, files: Sequence[Path], options: ImageOptions) -> float:
        return self._timed(render, files, options)

    def close(self) -> None:
        self._pool.shutdown()

    def _timed(self, work: Callable[..., object], *arguments: object) -> float:
        started = time.perf_counter()
        shares = [Share(first, self._processes) for first in range(self._processes)]
        for done in [self._pool.submit(work, *arguments, share) for share in shares]:
            done.result()
        return time.perf_counter() - started


def _begun(_number: int) -> None:
    time.sleep(1.0)
