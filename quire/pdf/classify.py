"""The class of a page, from what was measured on it: a pure table of rules, each with a reason.

A doubtful page goes to a model: reading plain text with a model costs little, a lost table may
make the document useless.
"""

from collections.abc import Callable
from dataclasses import dataclass

from quire.contracts.page import Classification
from quire.contracts.stored import PageSurvey
from quire.pdf.drawings import NO_DRAWINGS, DrawingSignals
from quire.pdf.text_quality import TextQuality

Verdict = tuple[Classification, str]

DENSE_PATHS = 4000  # a page with more is a map or a plan, whatever its paths are

PAGE_WIDE = 0.6
BLANK_INK = 0.0004
_BUSY_INK = 0.01
_STAMP_CHARS = 400
FIGURE_SHARE = 0.02


@dataclass(frozen=True)
class PageSignals:
    """All measurements that the classification of a page uses."""

    text: TextQuality
    hidden_text_share: float = 0.0
    picture_fonts: bool = False
    image_share: float = 0.0
    figure_image_share: float = 0.0
    inline_images: int = 0
    paths: int = 0
    drawings: DrawingSignals = NO_DRAWINGS
    numeric_rows: int = 0
    aligned_rows: int = 0
    ink: float | None = None
    ink_beside_text: float | None = None
    damaged: bool = False


def classify(signals: PageSignals) -> Verdict:
    """The verdict of the first rule that applies; a page to which none applies is text."""
    for rule in _RULES:
        verdict = rule(signals)
        if verdict is not None:
            return verdict
    return Classification.TEXT_ONLY, _text_reason(signals)


def unsurveyed(number: int, why: str) -> PageSurvey:
    """The record of a page that could not be surveyed: a model may still read it."""
    return PageSurvey(
        page=number,
        classification=Classification.SCANNED,
        reason=f"could not be surveyed: {why}",
    )


def _nothing(s: PageSignals) -> Verdict | None:
    if s.text.chars:
        return None
    if not s.image_share and not s.paths:
        damage = ", its content is damaged" if s.damaged else ""
        return Classification.BLANK, f"nothing on the page{damage}"
    if s.ink is not None and s.ink < BLANK_INK:
        return Classification.BLANK, f"no text, and no ink on it (ink {s.ink:.2%})"
    return None


def _no_text(s: PageSignals) -> Verdict | None:
    if s.text.chars:
        return None
    if s.image_share > 0.3:
        return Classification.SCANNED, f"no text layer, image over {s.image_share:.0%} of the page"
    return Classification.HAS_GRAPHICS, "graphics and no text layer"


def _hidden_text(s: PageSignals) -> Verdict | None:
    if s.image_share < 0.4 or s.hidden_text_share < 0.5:
        return None
    share = f"image over {s.image_share:.0%} of the page"
    return Classification.SCANNED, f"{share}, its text layer is invisible OCR"


def _garbage(s: PageSignals) -> Verdict | None:
    w = s.text
    if w.bad_share > 0.1:
        return Classification.SCANNED, f"text layer unreadable: {w.bad_share:.0%} unknown glyphs"
    if w.odd_word_share > 0.4:
        return Classification.SCANNED, f"text layer is nonsense: {w.odd_word_share:.0%} odd words"
    return None


def _page_wide_image(s: PageSignals) -> Verdict | None:
    if s.image_share < PAGE_WIDE:
        return None
    share = f"image over {s.image_share:.0%} of the page"
    if s.picture_fonts:
        return Classification.SCANNED, f"{share}, its letters are traced pictures"
    if s.ink_beside_text is not None and s.ink_beside_text < _BUSY_INK / 4:
        return None  # a background: it shows nothing but the words of the text layer
    if s.text.chars < _STAMP_CHARS:
        return Classification.SCANNED, f"{share}, only {s.text.chars} characters of text"
    return Classification.HAS_GRAPHICS, f"{share} behind the text"


def _images(s: PageSignals) -> Verdict | None:
    if s.image_share >= PAGE_WIDE:
        return None  # the rule before has judged it
    if s.figure_image_share >= FIGURE_SHARE:
        return Classification.HAS_GRAPHICS, f"images over {s.figure_image_share:.0%} of the page"
    if s.image_share >= 3 * FIGURE_SHARE:
        return Classification.HAS_GRAPHICS, f"large images, {s.image_share:.0%} of the page"
    if s.inline_images >= 2:
        return Classification.HAS_GRAPHICS, f"{s.inline_images} small images that may hold words"
    return None


def _vector_figure(s: PageSignals) -> Verdict | None:
    d = s.drawings
    if s.paths > DENSE_PATHS:
        return Classification.HAS_GRAPHICS, f"dense vector graphics ({s.paths} paths)"
    if d.figure_share >= FIGURE_SHARE:
        return Classification.HAS_GRAPHICS, f"vector figure over {d.figure_share:.0%} of the page"
    if d.empty_boxes >= 3:
        return Classification.HAS_GRAPHICS, f"chart or form: {d.empty_boxes} boxes without words"
    if d.nodes >= 3:
        return Classification.HAS_GRAPHICS, f"diagram: {d.nodes} boxes of words"
    return None


def _table(s: PageSignals) -> Verdict | None:
    d = s.drawings
    across, down = d.grid_lines
    if (across >= 2 and down >= 2) or (across >= 4 and down) or (across and down >= 4):
        return Classification.HAS_GRAPHICS, f"ruled grid: {across} lines across, {down} down"
    if d.cell_columns >= 2:
        return Classification.HAS_GRAPHICS, f"table: {d.cell_columns} columns of shaded cells"
    if d.ruled_rows >= 2:
        return Classification.HAS_GRAPHICS, f"table: {d.ruled_rows} rows of cells between rules"
    if s.numeric_rows >= 4:
        return Classification.HAS_GRAPHICS, f"table: {s.numeric_rows} aligned rows of numbers"
    if s.aligned_rows >= 6:
        return Classification.HAS_GRAPHICS, f"table: {s.aligned_rows} rows of aligned cells"
    return None


def _text_reason(s: PageSignals) -> str:
    reason = f"{s.text.chars} characters of text"
    if s.image_share >= PAGE_WIDE:
        return f"{reason} on a plain background image"
    if s.image_share or s.paths:
        return f"{reason}, graphics are small or plain"
    return reason


_RULES: tuple[Callable[[PageSignals], Verdict | None], ...] = (
    _nothing,
    _no_text,
    _hidden_text,
    _garbage,
    _page_wide_image,
    _images,
    _vector_figure,
    _table,
)
