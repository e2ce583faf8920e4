"""What a page shows, measured cheaply with MuPDF. Runs in the child process.

Most pages cost a few milliseconds: one pass for the text, one for the list of everything drawn.
Paths are analysed only where there are some. The page is drawn, tiny and grey, only where an
image may be anything from an empty sheet to a whole letter.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from PIL import Image

from quire.contracts.stored import LayerFacts
from quire.domain.layout.letters import resolve_ligatures
from quire.pdf.classify import DENSE_PATHS, FIGURE_SHARE, PAGE_WIDE, PageSignals
from quire.pdf.drawings import (
    NO_DRAWINGS,
    DrawingSignals,
    in_margin_band,
    measure_drawings,
    sort_paths,
)
from quire.pdf.geometry import Box, covered_share
from quire.pdf.ink import ink_share
from quire.pdf.mupdf import pymupdf
from quire.pdf.page_text import page_text
from quire.pdf.tables import Word, join_words, numeric_rows, rows_of, table_rows
from quire.pdf.text_quality import measure_text
from quire.pdf.unseen import visible_text, wordless_pictures

MAX_TEXT_CHARS = 1_000_000
CUT_MARK = "\n[text of this page cut here: it is longer than 1,000,000 characters]\n"
_TOO_MANY_WORDS = 20_000
_INK_PIXELS = 420
# Unknown glyphs must appear as U+FFFD: MuPDF would write glyph numbers that look like letters.
_TEXT_FLAGS = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE


class Measured(NamedTuple):
    """A page: its measurements, its text, and what is known of its text layer besides."""

    signals: PageSignals
    # Cut with a mark if it is very long.
    text: str
    layer: LayerFacts
    # What a person can see of the text, where that is not all of it.
    visible: str | None


def measure_page(page: Any) -> Measured:
    """All that the survey keeps of one page, and what its class follows from."""
    pymupdf.TOOLS.reset_mupdf_warnings()
    # MuPDF gives text and drawings in coordinates of the page before its rotation.
    frame = Box(0, 0, page.cropbox.width, page.cropbox.height)
    textpage = page.get_textpage(flags=_TEXT_FLAGS)
    as_drawn = textpage.extractText()
    found = textpage.extractWORDS()
    whole = len(found) <= _TOO_MANY_WORDS
    text = _bounded(page_text(textpage, found, as_drawn) if whole else resolve_ligatures(as_drawn))
    found = found[:_TOO_MANY_WORDS]
    words = [Word(Box(*word[:4]), word[4]) for word in found]
    rows = rows_of(join_words(found))
    log = page.get_bboxlog()
    images = [_box(bbox).clipped(frame) for kind, bbox in log if kind in _IMAGES]
    images = [image for image in images if image.area > 0]
    paths = sum(1 for kind, _ in log if kind in _PATHS)
    quality = measure_text(_bounded(as_drawn))
    image_share = covered_share(frame, images)
    figures = [image for image in images if not in_margin_band(image, frame)]
    figure_share = covered_share(frame, figures)
    # Where images alone decide, paths need not be analysed, which takes the most time.
    decided = figure_share >= FIGURE_SHARE and image_share < PAGE_WIDE
    ink = ink_beside = None
    if (image_share > 0.4) or (not quality.chars and (images or paths)):
        ink, ink_beside = _ink(page, words)
    signals = PageSignals(
        text=quality,
        hidden_text_share=_hidden_share(log, frame),
        picture_fonts=image_share > 0.4 and _only_picture_fonts(page),
        image_share=image_share,
        figure_image_share=figure_share,
        inline_images=sum(1 for image in figures if _wordy(image)),
        paths=paths,
        drawings=NO_DRAWINGS if decided else _drawings(page, frame, words, paths),
        numeric_rows=numeric_rows(rows),
        aligned_rows=table_rows(rows),
        ink=ink,
        ink_beside_text=ink_beside,
        damaged="error" in pymupdf.TOOLS.mupdf_warnings(),
    )
    layer = LayerFacts(
        bad=round(quality.bad_share, 3),
        odd=round(quality.odd_word_share, 3),
        hidden=round(signals.hidden_text_share, 3),
        traced=signals.picture_fonts,
        pictures=wordless_pictures(page, images, words),
    )
    return Measured(signals, text, layer, visible_text(textpage))


_IMAGES = frozenset({"fill-image", "fill-imgmask"})
_PATHS = frozenset({"fill-path", "stroke-path", "fill-shade"})
# Adobe ClearScan, Tesseract, ABBYY and Acrobat, in this order.
_OCR_FONT = re.compile(r"^(\w+\+)?Fd\d+|GlyphLess|HiddenHorzOCR", re.IGNORECASE)
_SHOWN_TEXT = frozenset({"fill-text", "stroke-text"})


def _box(bbox: Sequence[float]) -> Box:
    return Box(*bbox)


def _bounded(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return text[: MAX_TEXT_CHARS - len(CUT_MARK)] + CUT_MARK


def _hidden_share(log: Sequence[tuple[str, Sequence[float]]], frame: Box) -> float:
    """The share of the text that is invisible, or covered by a large image drawn after it."""
    cover = max(
        (i for i, (k, b) in enumerate(log) if k in _IMAGES and _large(_box(b), frame)), default=-1
    )
    if cover < 0 and not any(kind == "ignore-text" for kind, _ in log):
        return 0.0
    seen = hidden = 0.0
    for index, (kind, bbox) in enumerate(log):
        area = _box(bbox).clipped(frame).area
        if kind == "ignore-text" or (kind in _SHOWN_TEXT and index < cover):
            hidden += area
        elif kind in _SHOWN_TEXT:
            seen += area
    return hidden / (seen + hidden) if hidden else 0.0


def _large(box: Box, frame: Box) -> bool:
    return box.clipped(frame).area > 0.6 * frame.area


def _only_picture_fonts(page: Any) -> bool:
    """Whether every font consists of drawn glyphs or comes from an OCR program."""
    fonts = page.get_fonts()
    return bool(fonts) and all(f[2] == "Type3" or _OCR_FONT.search(f[3]) for f in fonts)


def _wordy(image: Box) -> bool:
    """Whether the image has the size and shape of a formula or a line of words."""
    return 8 <= image.height <= 45 and image.width >= 25 and image.width > 1.8 * image.height


def _drawings(page: Any, frame: Box, words: list[Word], paths: int) -> DrawingSignals:
    if not paths or paths > DENSE_PATHS:
        return NO_DRAWINGS
    return measure_drawings(sort_paths(page.get_cdrawings(), frame), frame, words)


def _ink(page: Any, words: list[Word]) -> tuple[float, float]:
    """Ink on the whole page, and ink outside the words of the text layer."""
    rect = page.rect
    zoom = _INK_PIXELS / max(rect.width, rect.height, 1.0)
    pixmap = page.get_pixmap(
        matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False
    )
    size = (pixmap.width, pixmap.height)
    grey = Image.frombuffer("L", size, pixmap.samples_mv, "raw", "L", pixmap.stride, 1)
    grey = grey.copy()  # the pixmap must be the last to release its memory
    drawn = Box(0, 0, rect.width, rect.height)
    turned = [Box(*(pymupdf.Rect(word.box) * page.rotation_matrix)) for word in words]
    return ink_share(grey, drawn), ink_share(grey, drawn, turned)
