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
# Of the page: what pictures must cover for it to be drawn as finely as they are.
_PICTURE_SHARE = 0.3


def draw_page(page: Any, options: ImageOptions, scale: float) -> PageImage:
    """Draw and encode a page; one larger than `MAX_SIDE` pixels is drawn smaller."""
    own = _own_zoom(page) if options.max_pixels else 0.0
    zoom = zoom_for(page.rect.width, page.rect.height, options, scale, own)
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


def zoom_for(width: float, height: float, options: ImageOptions, scale: float, own: float) -> float:
    """The zoom for a page of this size in points, within the limits of a drawing; `own` is that at
    which its pictures are as fine as they are, or 0."""
    if not (math.isfinite(width) and math.isfinite(height)) or width <= 0 or height <= 0:
        raise errors.page_without_area()
    longest, shortest = max(width, height), min(width, height)
    area = width * height
    # More pixels than a picture has would show nothing more.
    wanted = own or math.sqrt(options.min_pixels / area)
    zoom = max(options.dpi / 72, min(wanted, math.sqrt(options.max_pixels / area)))
    return min(max(zoom * scale, _MIN_SIDE / shortest), MAX_SIDE / longest)


def _own_zoom(page: Any) -> float:
    """Pixels a point of the finest pictures that together cover enough of the page; 0 without."""
    frame = page.rect
    pictures: list[tuple[float, float]] = []
    for info in page.get_image_info():
        box = pymupdf.Rect(info["bbox"])
        if box.is_empty or box.is_infinite:
            continue
        fine = math.sqrt(info["width"] * info["height"] / box.get_area())
        pictures.append((fine, (box & frame).get_area()))
    covered = 0.0
    for fine, area in sorted(pictures, reverse=True):
        covered += area
        if covered >= _PICTURE_SHARE * frame.get_area():
            return fine
    return 0.0


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
