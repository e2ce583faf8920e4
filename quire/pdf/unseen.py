"""Text that no one sees, and pictures in which no text layer has words. Runs in the child process.

Text that no one sees may have been put there for a model to read.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from quire.pdf.geometry import Box
from quire.pdf.mupdf import pymupdf
from quire.pdf.tables import Word

# Bits of a span's `char_flags`.
_FILLED, _STROKED = 16, 32
_SMALLEST_TYPE = 2.0
# White, or what looks like it, as bytes of red, green and blue.
_WHITISH = 0xF0
_MOST_PICTURES = 16
# A picture with more of the layer's words in it is described by them.
_FEW_WORDS = 2
_LEAST_SIDE, _LEAST_SHARE = 12.0, 0.002

Area = tuple[float, float, float, float]


def visible_text(textpage: Any) -> str | None:
    """The page's text without what no one sees; None where that is all of it.

    White type on a dark ground is taken for unseen too: as context for other pages it is no loss.
    """
    lines: list[str] = []
    unseen = False
    for line in _lines(textpage):
        kept = [span["text"] for span in line["spans"] if _can_be_seen(span)]
        unseen = unseen or len(kept) < len(line["spans"])
        if kept:
            lines.append("".join(kept))
    return "\n".join(lines) if unseen else None


def _lines(textpage: Any) -> Iterator[dict[str, Any]]:
    for block in textpage.extractDICT()["blocks"]:
        yield from block.get("lines", ())


def _can_be_seen(span: dict[str, Any]) -> bool:
    drawn = span["char_flags"] & (_FILLED | _STROKED) and span["alpha"]
    whitish = all((span["color"] >> shift) & 0xFF >= _WHITISH for shift in (0, 8, 16))
    return bool(drawn) and span["size"] >= _SMALLEST_TYPE and not whitish


def wordless_pictures(page: Any, images: Sequence[Box], words: Sequence[Word]) -> tuple[Area, ...]:
    """Pictures without words of the layer, the largest first, as shares of the drawn page."""
    found = [
        image
        for image in images
        if min(image.width, image.height) >= _LEAST_SIDE
        and image.area >= _LEAST_SHARE * page.cropbox.width * page.cropbox.height
        and sum(image.holds(*_middle(word.box)) for word in words) <= _FEW_WORDS
    ]
    found.sort(key=lambda image: -image.area)
    return tuple(_area(page, image) for image in found[:_MOST_PICTURES])


def _middle(box: Box) -> tuple[float, float]:
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


def _area(page: Any, box: Box) -> Area:
    drawn = pymupdf.Rect(box) * page.rotation_matrix
    width, height = page.rect.width or 1.0, page.rect.height or 1.0
    return (
        round(drawn.x0 / width, 3),
        round(drawn.y0 / height, 3),
        round(drawn.x1 / width, 3),
        round(drawn.y1 / height, 3),
    )
