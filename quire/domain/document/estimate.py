"""What reading a document will take, before anything is spent. Rules of thumb, and pure.

A drawn page costs a token for each 750 pixels (Anthropic's published rule; OpenAI's patches come
to a little less). A scan is taken as fine enough for all of `IMAGE_MAX_PIXELS`. Four characters are
about a token of the prompt, and three and a half of an answer, which has more digits and marks. A
page without a text layer is taken as a full page of print. Models that think write more than this.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from quire.contracts.page import Classification
from quire.contracts.reading import ReadingOptions
from quire.contracts.stored import PageSurvey

PIXELS_A_TOKEN = 750
PROMPT_CHARS_A_TOKEN = 4
ANSWER_CHARS_A_TOKEN = 3.5
# Characters of a page that is only a picture, and of a figure's description.
FULL_PAGE_CHARS = 2500
FIGURE_CHARS = 400
# A4: the survey does not keep the size of a page.
PAGE_INCHES = (8.27, 11.69)


@dataclass(frozen=True)
class Expected:
    """Tokens of all the calls of a document."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


def expect(surveys: Iterable[PageSurvey], reading: ReadingOptions, *, every_page: bool) -> Expected:
    """One call for each page that needs a model."""
    pages = {page.page: page for page in surveys}
    calls = read = written = 0
    for page in pages.values():
        if not (every_page or page.classification.needs_vision):
            continue
        calls += 1
        read += _image_tokens(page, reading) + _prompt_tokens(page.page, pages, reading)
        written += round(_answer_chars(page) / ANSWER_CHARS_A_TOKEN)
    return Expected(calls, read, written)


def _image_tokens(page: PageSurvey, reading: ReadingOptions) -> int:
    width, height = (inches * reading.image.dpi for inches in PAGE_INCHES)
    pixels = width * height
    if page.classification is Classification.SCANNED:
        pixels = max(pixels, reading.image.max_pixels)
    return round(pixels / PIXELS_A_TOKEN)


def _prompt_tokens(page: int, pages: dict[int, PageSurvey], reading: ReadingOptions) -> int:
    radius = reading.context_radius
    near = [n for n in range(page - radius, page + radius + 1) if n != page and n in pages]
    context = min(sum(len(pages[n].text) for n in near), reading.context_bytes)
    chars = len(reading.system_prompt) + len(reading.instructions) + context
    return round(chars / PROMPT_CHARS_A_TOKEN)


def _answer_chars(page: PageSurvey) -> int:
    if page.classification is Classification.SCANNED:
        return FULL_PAGE_CHARS
    return len(page.text) + FIGURE_CHARS
