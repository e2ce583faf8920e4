"""Page images from scanners and phones, converted for a model. Runs in the child process."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, ImageFile, ImageOps

from quire.contracts.page import Classification
from quire.contracts.reading import ImageOptions
from quire.contracts.stored import PageSurvey
from quire.domain import errors
from quire.domain.document.transcription import PageImage
from quire.pdf.classify import BLANK_INK, unsurveyed
from quire.pdf.geometry import Box
from quire.pdf.ink import ink_share
from quire.pdf.render import MAX_SIDE, encode

# The width of a sheet of A4, to apply `IMAGE_DPI` to an image without a size in inches.
_PAGE_INCHES = 8.27
# A4 at 1200 dpi has 140 million; a larger image is an attack, or not a page.
_MAX_PIXELS = 200_000_000
_SURVEY_SIDE = 240
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP", "DIB")


def count_frames(path: str) -> int:
    """The pages of a TIFF; 1 for other formats, also animations; 0 when it is no image."""
    try:
        with _opened(path, 0) as image:
            return int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1
    except MemoryError:
        raise
    except Exception:
        return 0


def survey_frame(path: str, frame: int, number: int) -> PageSurvey:
    """The survey of a page image: SCANNED, or BLANK when there is no ink on it."""
    try:
        with _opened(path, frame) as image:
            image.draft("L", (_SURVEY_SIDE, _SURVEY_SIDE))
            grey = _plain(image, gray=True)
            grey.thumbnail((_SURVEY_SIDE, _SURVEY_SIDE))
    except MemoryError:
        raise
    except Exception as error:
        return unsurveyed(number, f"the image is damaged ({type(error).__name__})")
    ink = ink_share(grey, Box(0, 0, grey.width, grey.height))
    if ink < BLANK_INK:
        reason = f"a page image with no ink on it (ink {ink:.2%})"
        return PageSurvey(page=number, classification=Classification.BLANK, reason=reason)
    return PageSurvey(page=number, classification=Classification.SCANNED, reason="a page image")


def draw_frame(path: str, frame: int, options: ImageOptions, scale: float) -> PageImage:
    """The image upright, on white, in eight bits, as large as a page at `IMAGE_DPI`, or as
    `IMAGE_MAX_PIXELS` allow, but never enlarged."""
    with _opened(path, frame) as image:
        size = _target(image.width, image.height, options, scale)
        # A JPEG is decoded at the next size above what is needed, in a fraction of the memory.
        image.draft(None, size)
        picture = _plain(image, gray=options.color == "gray")
        if (picture.width > picture.height) != (size[0] > size[1]):
            size = (size[1], size[0])  # EXIF turned it by a quarter
        if size != picture.size:
            picture = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    return PageImage(encode(picture, options), f"image/{options.format}", *picture.size)


@contextmanager
def _opened(path: str, frame: int) -> Iterator[Image.Image]:
    # Our own limit below replaces Pillow's, which warns first and raises at twice its value.
    Image.MAX_IMAGE_PIXELS = None
    # A truncated image must be an error, not half a page.
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    with Image.open(path, formats=_FORMATS) as image:
        if frame:
            image.seek(frame)
        if image.width * image.height > _MAX_PIXELS:
            raise errors.image_too_large(image.width, image.height)
        yield image


def _target(width: int, height: int, options: ImageOptions, scale: float) -> tuple[int, int]:
    sheet = options.dpi * _PAGE_INCHES / min(width, height)
    zoom = max(sheet, math.sqrt(options.max_pixels / (width * height)))
    zoom = min(1.0, zoom, MAX_SIDE / max(width, height)) * scale
    return max(1, round(width * zoom)), max(1, round(height * zoom))


def _plain(image: Image.Image, *, gray: bool) -> Image.Image:
    """The image turned as its EXIF data say, without alpha, in eight bits."""
    upright = ImageOps.exif_transpose(image)
    if upright.mode in ("I", "F") or upright.mode.startswith("I;"):
        upright = _eight_bits(upright)
    if upright.has_transparency_data:
        on_white = upright.convert("RGBA")
        paper = Image.new("RGBA", on_white.size, "white")
        upright = Image.alpha_composite(paper, on_white)
    return upright.convert("L" if gray else "RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Scaled by the range that is used: twelve bits stored in sixteen would be nearly black."""
    wide = (image if image.mode == "F" else image.convert("I")).convert("F")
    low, high = wide.getextrema()
    assert isinstance(low, float | int)
    assert isinstance(high, float | int)
    if image.mode != "F" and low >= 0:
        low = 0.0
        high = float(max(255, 2 ** int(high).bit_length() - 1))
    span = (high - low) or 1.0
    return wide.point(lambda value: value * (255 / span) - low * 255 / span).convert("L")
