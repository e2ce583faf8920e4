"""Draws one page as an encoded image. Runs in the child process."""

import io
import math
import time
from typing import Any

from PIL import Image

from quire.contracts.reading import ImageOptions
from quire.domain import errors
from quire.domain.document.transcription import PageImage
from quire.pdf.mupdf import pymupdf

MAX_SIDE = 4000
_MIN_SIDE = 8


def draw_page(page: Any, options: ImageOptions, scale: float) -> PageImage:
    """Draw and encode a page; one larger than `MAX_SIDE` pixels is drawn smaller."""
    zoom = zoom_for(page.rect.width, page.rect.height, options.dpi, scale)
    grey = options.color == "gray"
    pixmap = page.get_pixmap(
        matrix=pymupdf.Matrix(zoom, zoom),
        colorspace=pymupdf.csGRAY if grey else pymupdf.csRGB,
        alpha=False,
    )
    mode, size = ("L" if grey else "RGB"), (pixmap.width, pixmap.height)
    # Pillow encodes a page in 2 ms where MuPDF's own encoder takes 45.
    image = Image.frombuffer(mode, size, pixmap.samples_mv, "raw", mode, pixmap.stride, 1)
    started = time.monotonic()
    data = encode(image, options)
    took = time.monotonic() - started
    del image  # it uses the memory of the pixmap, which must be released last
    return PageImage(data, f"image/{options.format}", *size, encode_s=took)


def zoom_for(width: float, height: float, dpi: int, scale: float) -> float:
    """The zoom for a page of this size in points, within the limits of a drawing."""
    if not (math.isfinite(width) and math.isfinite(height)) or width <= 0 or height <= 0:
        raise errors.page_without_area()
    longest, shortest = max(width, height), min(width, height)
    zoom = max(dpi / 72 * scale, _MIN_SIDE / shortest)
    return min(zoom, MAX_SIDE / longest)


def encode(image: Image.Image, options: ImageOptions) -> bytes:
    """The bytes of the image in the format of the options."""
    out = io.BytesIO()
    if options.format == "png":
        # Level 6 takes three times as long and saves only a few percent.
        image.save(out, "PNG", compress_level=3, dpi=(options.dpi, options.dpi))
    elif options.format == "webp":
        image.save(out, "WEBP", quality=options.jpeg_quality, method=2)
    else:
        image.save(out, "JPEG", quality=options.jpeg_quality, dpi=(options.dpi, options.dpi))
    return out.getvalue()
