"""How much ink is on a page, measured on a tiny grey drawing of it."""

from collections.abc import Iterable

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from quire.pdf.geometry import Box

# The colour of paper changes slowly over the page; ink is much darker than what is near it.
_CONTRAST = 28
_EDGE = 0.04


def ink_share(grey: Image.Image, page: Box, without: Iterable[Box] = ()) -> float:
    """The share of the page that is ink: much darker, or lighter, than its neighbourhood.

    What lies in the boxes of `without` does not count, nor does the outer edge, where scans
    show the scanner's lid.
    """
    near = grey.filter(ImageFilter.BoxBlur(6))
    marks = ImageChops.difference(grey, near).point(lambda v: 255 if v > _CONTRAST else 0)
    draw = ImageDraw.Draw(marks)
    sx, sy = grey.width / max(page.width, 1e-6), grey.height / max(page.height, 1e-6)
    for box in without:
        draw.rectangle(
            (box.x0 * sx - 2, box.y0 * sy - 2, max(0, box.x1 * sx) + 2, max(0, box.y1 * sy) + 2),
            fill=0,
        )
    ex, ey = int(grey.width * _EDGE), int(grey.height * _EDGE)
    inner = marks.crop((ex, ey, max(ex + 1, grey.width - ex), max(ey + 1, grey.height - ey)))
    return inner.histogram()[255] / (inner.width * inner.height)
