"""Raw MuPDF on the same pages: one process, no limits, no classification, nothing that survives
a hostile file. The reference for survey and drawing."""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf as _pymupdf
from PIL import Image

from domain.contracts import ImageOptions

pymupdf: Any = _pymupdf


def survey(files: Sequence[Path]) -> float:
    """Seconds to take text, drawings and images from every page."""
    started = time.perf_counter()
    for path in files:
        with pymupdf.open(path) as document:
            for page in document:
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


def render(files: Sequence[Path], options: ImageOptions) -> Drawn:
    draw = encode = 0.0
    for path in files:
        started = time.perf_counter()
        with pymupdf.open(path) as document:
            for page in document:
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
