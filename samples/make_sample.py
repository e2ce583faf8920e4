"""Makes the demo document: prose, a chart with a table, three scans and an empty page.

The scans are a letter, a page in two columns, and a note that was put in upside down.

The same bytes every time, so that a second demo finds its pages already read.
"""

import argparse
import io
import random
import sys
from pathlib import Path
from typing import Any

import pymupdf as _pymupdf
from PIL import Image, ImageChops, ImageFilter

from samples.words import CHART, LETTER, PROSE, TABLE, TIDES

pymupdf: Any = _pymupdf

_INK, _SEA, _RUST = (0.12, 0.14, 0.2), (0.16, 0.38, 0.55), (0.75, 0.32, 0.18)
_LEFT, _RIGHT = 72, 523


def make_sample(path: Path) -> Path:
    """Write the six pages to `path`, making its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open() as document:
        _prose_page(document.new_page())
        _figures_page(document.new_page())
        for scan in (_letter(), _columns(), _note()):
            page = document.new_page()
            page.insert_image(page.rect, stream=scan)
        document.new_page()
        document.set_metadata({"title": "Harbour Museum: the year in brief"})
        document.save(path, deflate=True, no_new_id=True)
    return path


def _prose_page(page: Any) -> None:
    title, *paragraphs = PROSE
    page.insert_text((_LEFT, 96), title, fontname="tibo", fontsize=22, color=_INK)
    page.draw_line((_LEFT, 108), (_RIGHT, 108), color=_SEA, width=1.2)
    top = 128.0
    for paragraph in paragraphs:
        top = _paragraph(page, paragraph, top) + 12


def _paragraph(page: Any, text: str, top: float) -> float:
    """Set a paragraph and say where it ends."""
    box = pymupdf.Rect(_LEFT, top, _RIGHT, 800)
    left = page.insert_textbox(
        box, text, fontname="tiro", fontsize=11.5, lineheight=1.45, color=_INK, align=3
    )
    return float(800 - left)


def _figures_page(page: Any) -> None:
    page.insert_text((_LEFT, 92), CHART.title, fontname="tibo", fontsize=15, color=_INK)
    _bars(page, pymupdf.Rect(_LEFT + 30, 120, _RIGHT, 330))
    top = _paragraph(page, TIDES, 362) + 24
    page.insert_text((_LEFT, top), TABLE.title, fontname="tibo", fontsize=12, color=_INK)
    _table(page, top + 12)


def _bars(page: Any, area: Any) -> None:
    highest = 2000
    for level in range(0, highest + 1, 500):
        y = area.y1 - area.height * level / highest
        page.draw_line((area.x0, y), (area.x1, y), color=(0.8, 0.8, 0.8), width=0.5)
        page.insert_text((area.x0 - 30, y + 3), str(level), fontsize=8, color=_INK)
    step = area.width / len(CHART.bars)
    points = []
    for index, (month, visitors) in enumerate(CHART.bars):
        x = area.x0 + step * index
        top = area.y1 - area.height * visitors / highest
        page.draw_rect((x + 6, top, x + step - 6, area.y1), color=_SEA, fill=_SEA)
        page.insert_text((x + 9, area.y1 + 13), month, fontsize=8, color=_INK)
        points.append((x + step / 2, top - 12))
    page.draw_polyline(points, color=_RUST, width=1.5)


def _table(page: Any, top: float) -> None:
    lefts = (_LEFT, 190, 300, 400, _RIGHT)
    height = 20
    for number, row in enumerate(TABLE.rows):
        y = top + height * number
        if number == 0:
            page.draw_rect((_LEFT, y, _RIGHT, y + height), color=None, fill=(0.9, 0.93, 0.96))
        for left, cell in zip(lefts, row, strict=False):
            font = "tibo" if number == 0 else "tiro"
            page.insert_text((left + 6, y + 14), cell, fontname=font, fontsize=10, color=_INK)
    bottom = top + height * len(TABLE.rows)
    for number in range(len(TABLE.rows) + 1):
        y = top + height * number
        page.draw_line((_LEFT, y), (_RIGHT, y), color=_INK, width=0.6)
    for x in lefts:
        page.draw_line((x, top), (x, bottom), color=_INK, width=0.6)


def _letter() -> bytes:
    """A typed letter, put in a little askew."""
    with pymupdf.open() as sheet:
        page = sheet.new_page()
        page.insert_textbox(
            pymupdf.Rect(80, 90, 510, 780), LETTER, fontname="cour", fontsize=11.5, lineheight=1.5
        )
        return _scan_of(page, 0.6)


def _columns() -> bytes:
    """A newspaper: a head over two columns."""
    with pymupdf.open() as sheet:
        page = sheet.new_page()
        page.insert_text((_LEFT, 96), PROSE[0], fontname="tibo", fontsize=22)
        for column, text in enumerate((PROSE[2], PROSE[4])):
            box = pymupdf.Rect(_LEFT + 236 * column, 128, _LEFT + 215 + 236 * column, 400)
            page.insert_textbox(box, text, fontname="tiro", fontsize=11.5, lineheight=1.45)
        return _scan_of(page, -0.8)


def _note() -> bytes:
    """A note that was put in upside down."""
    with pymupdf.open() as sheet:
        page = sheet.new_page()
        box = pymupdf.Rect(_LEFT, 128, _RIGHT, 400)
        page.insert_textbox(box, PROSE[3], fontname="cour", fontsize=11.5, lineheight=1.5)
        return _scan_of(page, 180.0)


def _scan_of(page: Any, turn: float) -> bytes:
    """The page as an old scanner sees it: grey paper, a little grain, not quite straight."""
    pixmap = page.get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)
    size = (pixmap.width, pixmap.height)
    clean = Image.frombytes("L", size, bytes(pixmap.samples))
    turned = clean.rotate(turn, resample=Image.Resampling.BICUBIC, fillcolor=255)
    soft = turned.filter(ImageFilter.GaussianBlur(0.6)).point(lambda v: 40 + v * 195 // 255)
    # A fixed seed: the demo must make the same bytes every time.
    grain = random.Random(1887).randbytes(size[0] * size[1])  # noqa: S311
    noise = Image.frombytes("L", size, grain).point(lambda v: v // 14)
    out = io.BytesIO()
    ImageChops.subtract(soft, noise).save(out, "JPEG", quality=80)
    return out.getvalue()


def main() -> None:
    """Read the one argument, make the file, say where it is."""
    parser = argparse.ArgumentParser(prog="python -m samples.make_sample", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT.pdf", help="where to write it")
    path = make_sample(parser.parse_args().out)
    sys.stderr.write(f"{path}: 6 pages (prose, chart and table, three scans, blank)\n")


if __name__ == "__main__":
    main()
