"""Single pages with a known right answer: each class, and the traps around it."""

import random
from collections.abc import Callable
from typing import Any

from PIL import Image

from quire.contracts.page import Classification
from testing.pdfs import picture_of, pymupdf
from testing.prose import WORDS

TEXT, GRAPHICS = Classification.TEXT_ONLY, Classification.HAS_GRAPHICS
SCANNED, BLANK = Classification.SCANNED, Classification.BLANK
Draw = Callable[[Any], None]
PAGES: dict[str, tuple[Classification, Draw]] = {}


def page(expected: Classification) -> Callable[[Draw], Draw]:
    """Register a page under the name of the function that draws it."""

    def register(draw: Draw) -> Draw:
        PAGES[draw.__name__] = (expected, draw)
        return draw

    return register


def prose(sheet: Any, box: tuple[float, ...] = (72, 90, 520, 500), size: float = 11) -> None:
    area = pymupdf.Rect(*box)
    for times in range(8, 0, -1):  # a text that does not fit is not written at all
        if sheet.insert_textbox(area, WORDS * times, fontsize=size, lineheight=1.3) >= 0:
            return
    raise AssertionError("the box is too small for the shortest text")


def png(image: Image.Image) -> bytes:
    mode = pymupdf.csGRAY if image.mode == "L" else pymupdf.csRGB
    return bytes(pymupdf.Pixmap(mode, *image.size, image.tobytes(), False).tobytes("png"))


def paper(size: tuple[int, int] = (600, 850)) -> Image.Image:
    """Yellowed paper: darker to one side, with grain, and nothing on it."""
    grain = Image.frombytes("L", size, random.Random(3).randbytes(size[0] * size[1]))
    shade = Image.linear_gradient("L").rotate(90).resize(size).point(lambda v: 190 + v // 5)
    return Image.blend(shade, grain.point(lambda v: 190 + v // 6), 0.3)


@page(TEXT)
def prose_with_rules_and_a_small_logo(sheet: Any) -> None:
    prose(sheet)
    for y in (60, 780):
        sheet.draw_line((72, y), (520, y))
    sheet.draw_line((72, 700), (200, 700))
    for radius in range(4, 16, 3):
        sheet.draw_circle((90, 40), radius)


@page(TEXT)
def underlined_and_highlighted_words(sheet: Any) -> None:
    prose(sheet)
    for word in sheet.get_text("words")[::4]:
        sheet.draw_line((word[0], word[3] - 2), (word[2], word[3] - 2), color=(0, 0, 1))
    for word in sheet.get_text("words")[1::9]:
        sheet.draw_rect(word[:4], color=None, fill=(1, 1, 0.5), overlay=False)


@page(TEXT)
def prose_on_a_coloured_page(sheet: Any) -> None:
    sheet.draw_rect(sheet.rect, color=None, fill=(0.95, 0.9, 0.8))
    prose(sheet)


@page(TEXT)
def prose_on_a_paper_image(sheet: Any) -> None:
    sheet.insert_image(sheet.rect, stream=png(paper()))
    prose(sheet)


@page(TEXT)
def code_listing_with_striped_background(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 250))
    for line in range(16):
        y = 300 + 14 * line
        sheet.draw_rect((72, y, 520, y + 14), color=None, fill=(0.93, 0.93, 0.93))
        sheet.insert_text((76, y + 10), f"value = measure(ship, {line})", fontname="cour")


@page(TEXT)
def note_in_a_frame(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 300))
    sheet.draw_rect((72, 320, 520, 480))
    sheet.draw_line((72, 342), (520, 342))
    sheet.insert_text((80, 336), "Note")
    prose(sheet, (80, 350, 510, 475), 8)


@page(TEXT)
def list_with_drawn_bullets(sheet: Any) -> None:
    for line in range(24):
        sheet.draw_circle((80, 96 + 20 * line), 2.5, fill=(0, 0, 0))
        sheet.insert_text((92, 100 + 20 * line), WORDS[: 60 + line % 7])


@page(TEXT)
def letter_with_a_crest(sheet: Any) -> None:
    sheet.insert_image((270, 30, 325, 85), stream=png(Image.radial_gradient("L")))
    prose(sheet, (72, 120, 520, 500))


@page(TEXT)
def table_of_contents(sheet: Any) -> None:
    for line in range(30):
        y = 90 + 18 * line
        sheet.insert_text((72, y), f"{line // 6 + 1}.{line % 6 + 1}")
        sheet.insert_text((110, y), f"{WORDS[line : line + 40]} " + "." * 40)
        sheet.insert_text((500, y), str(3 * line + 1))


@page(TEXT)
def two_columns_with_a_line_between(sheet: Any) -> None:
    prose(sheet, (60, 80, 285, 760))
    prose(sheet, (310, 80, 535, 760))
    sheet.draw_line((297, 60), (297, 770))
    sheet.draw_line((60, 60), (535, 60))
    sheet.draw_line((60, 770), (535, 770))


@page(TEXT)
def three_columns_of_news(sheet: Any) -> None:
    for left in (40, 215, 390):
        prose(sheet, (left, 80, left + 165, 780), 9)


@page(TEXT)
def prose_on_a_turned_page(sheet: Any) -> None:
    prose(sheet)
    sheet.draw_line((72, 60), (520, 60))
    sheet.set_rotation(90)


@page(TEXT)
def authors_side_by_side(sheet: Any) -> None:
    for left, name in ((70, "Ada Quist"), (240, "Ben Oort"), (410, "Cem Polat")):
        for line, text in enumerate((name, "Institute of Tides", "Harbour City", "a@example.org")):
            sheet.insert_text((left, 100 + 14 * line), text)
    prose(sheet, (72, 200, 520, 700))


@page(TEXT)
def letter_with_a_wide_letterhead(sheet: Any) -> None:
    sheet.insert_image((72, 30, 300, 80), stream=png(paper((456, 100))))
    prose(sheet, (72, 120, 520, 500))


@page(GRAPHICS)
def ruled_table(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 250))
    for line in range(7):
        sheet.draw_line((72, 300 + 20 * line), (520, 300 + 20 * line))
    for x in (72, 220, 370, 520):
        sheet.draw_line((x, 300), (x, 420))
    _cells(sheet, 314, 6, (78, 226, 376), "cell")


@page(GRAPHICS)
def printed_table_with_three_rules(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 250))
    for y in (300, 322, 420):
        sheet.draw_line((72, y), (520, y))
    _cells(sheet, 316, 6, (78, 226, 376), "name")


@page(GRAPHICS)
def table_of_shaded_rows(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 250))
    for line in range(0, 8, 2):
        y = 300 + 20 * line
        sheet.draw_rect((72, y, 520, y + 20), color=None, fill=(0.9, 0.93, 0.97))
    _cells(sheet, 314, 8, (78, 226, 376), "item")


@page(GRAPHICS)
def columns_of_numbers_without_any_line(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 250))
    _cells(sheet, 314, 8, (78, 226, 316, 406), "")


@page(GRAPHICS)
def bars_and_axes(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 300))
    sheet.draw_line((100, 600), (500, 600))
    for bar in range(6):
        left = 120 + 60 * bar
        sheet.draw_rect((left, 560 - 30 * bar, left + 30, 600), fill=(0.2, 0.4, 0.6))


@page(GRAPHICS)
def line_chart(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 300))
    sheet.draw_line((100, 600), (500, 600))
    sheet.draw_line((100, 350), (100, 600))
    sheet.draw_polyline([(100 + 40 * i, 590 - (i * 37) % 200) for i in range(11)])


@page(GRAPHICS)
def boxes_joined_by_lines(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 300))
    for left, top in ((80, 350), (250, 350), (420, 350), (250, 450)):
        sheet.draw_rect((left, top, left + 100, top + 40))
        sheet.insert_text((left + 8, top + 24), "a step")
    sheet.draw_line((180, 370), (250, 370))
    sheet.draw_line((350, 370), (420, 370))
    sheet.draw_line((300, 390), (300, 450))


@page(GRAPHICS)
def photo_beside_text(sheet: Any) -> None:
    prose(sheet, (72, 60, 520, 300))
    sheet.insert_image((72, 320, 300, 480), stream=png(Image.radial_gradient("L")))


@page(GRAPHICS)
def formulas_as_little_pictures(sheet: Any) -> None:
    prose(sheet)
    for line in range(4):
        y = 520 + 40 * line
        sheet.insert_image((200, y, 290, y + 20), stream=png(paper((180, 40))))


@page(GRAPHICS)
def table_on_a_turned_page(sheet: Any) -> None:
    ruled_table(sheet)
    sheet.set_rotation(90)


@page(GRAPHICS)
def drawing_without_a_word(sheet: Any) -> None:
    for radius in range(20, 200, 20):
        sheet.draw_circle((300, 400), radius)


@page(GRAPHICS)
def form_with_empty_fields(sheet: Any) -> None:
    for row in range(8):
        y = 100 + 50 * row
        sheet.insert_text((72, y + 16), f"Question {row}")
        sheet.draw_rect((200, y, 350, y + 24))
        sheet.draw_rect((370, y, 520, y + 24))


@page(SCANNED)
def picture_of_a_letter(sheet: Any) -> None:
    sheet.insert_image(sheet.rect, stream=picture_of(WORDS))


@page(SCANNED)
def picture_with_an_invisible_reading(sheet: Any) -> None:
    sheet.insert_image(sheet.rect, stream=picture_of(WORDS))
    sheet.insert_textbox(sheet.rect, WORDS * 5, render_mode=3)


@page(SCANNED)
def reading_hidden_under_the_picture(sheet: Any) -> None:
    prose(sheet)
    sheet.insert_image(sheet.rect, stream=picture_of(WORDS))


@page(SCANNED)
def picture_in_strips(sheet: Any) -> None:
    for strip in range(10):
        box = (0, 84.2 * strip, 595, 84.2 * (strip + 1))
        sheet.insert_image(
            box, stream=picture_of("words", (595, 84), top=20), keep_proportion=False
        )


@page(SCANNED)
def picture_with_a_visible_stamp(sheet: Any) -> None:
    sheet.insert_image(sheet.rect, stream=picture_of(WORDS + "\n" + WORDS))
    sheet.insert_text((72, 20), "Case 1:22-cv-00417 Document 12 Filed 03/04/22")


@page(SCANNED)
def letters_without_meaning(sheet: Any) -> None:
    line = "xkqj wvrtp Zrtgh bcdfg qwrtp lkjhg mnbvc zxcvb trwqp fghjk "
    sheet.insert_textbox(pymupdf.Rect(72, 90, 520, 600), line * 12)


@page(SCANNED)
def glyphs_without_names(sheet: Any) -> None:
    prose(sheet)
    font = sheet.get_fonts()[0][0]
    document = sheet.parent
    names = " ".join(f"/odd{code}" for code in range(65, 123))
    document.xref_set_key(font, "Encoding", f"<</Type/Encoding/Differences[65 {names}]>>")


@page(BLANK)
def nothing_at_all(sheet: Any) -> None:
    pass


@page(BLANK)
def white_on_white_and_blanks(sheet: Any) -> None:
    sheet.draw_rect((50, 50, 400, 400), color=None, fill=(1, 1, 1))
    sheet.insert_text((72, 72), "      ")


@page(BLANK)
def yellowed_empty_paper(sheet: Any) -> None:
    sheet.insert_image(sheet.rect, stream=png(paper()))


def _cells(sheet: Any, top: float, rows: int, lefts: tuple[float, ...], word: str) -> None:
    for row in range(rows):
        for column, left in enumerate(lefts):
            text = f"{word} {row}{column}" if word else f"{(row * 37 + column * 11) % 97}.{column}"
            sheet.insert_text((left, top + 20 * row), text, fontsize=10)
