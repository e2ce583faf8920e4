"""How finely a page is drawn: by its paper, or by the pictures on it."""

import io
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from quire.contracts.reading import ImageOptions
from quire.domain.document.transcription import PageImage
from quire.pdf import child_process

BUDGET = ImageOptions(min_pixels=500_000, max_pixels=1_500_000)


def _scan(folder: Path, paper: tuple[float, float], pixels: tuple[int, int], share: float) -> str:
    """A page with a picture over a share of its height."""
    out = io.BytesIO()
    Image.effect_noise(pixels, 60).save(out, "JPEG")
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=paper[0], height=paper[1])
    box = (0, 0, paper[0], paper[1] * share)
    page.insert_image(box, stream=out.getvalue(), keep_proportion=False)
    path = folder / "scan.pdf"
    document.save(path)  # type: ignore[no-untyped-call]
    return str(path)


def _drawn(path: str, options: ImageOptions, scale: float = 1.0) -> PageImage:
    return child_process.draw(path, 1, options, None, scale)


@pytest.mark.parametrize(
    ("paper", "pixels", "share", "drawn"),
    [
        ((180, 300), (1506, 2500), 1.0, (949, 1581)),  # within the budget
        ((180, 300), (600, 1000), 1.0, (600, 1000)),  # as fine as it is
        ((595, 842), (200, 283), 1.0, (827, 1170)),  # never coarser than IMAGE_DPI
        ((595, 842), (2000, 200), 0.1, (827, 1170)),  # a small picture decides nothing
        ((180, 300), (600, 50), 0.05, (548, 913)),  # small paper
    ],
)
def test_scan_is_drawn_as_finely_as_it_is(
    tmp_path: Path,
    paper: tuple[float, float],
    pixels: tuple[int, int],
    share: float,
    drawn: tuple[int, int],
) -> None:
    path = _scan(tmp_path, paper, pixels, share)
    image = _drawn(path, BUDGET)
    assert (image.width, image.height) == pytest.approx(drawn, abs=2)
    # Plans of before draw by the paper alone.
    before = _drawn(path, ImageOptions())
    assert before.width == pytest.approx(paper[0] * 100 / 72, abs=1)


def test_smaller_means_smaller_whatever_decides(tmp_path: Path) -> None:
    path = _scan(tmp_path, (180, 300), (1506, 2500), 1.0)
    whole, half = _drawn(path, BUDGET), _drawn(path, BUDGET, 0.5)
    assert half.width == pytest.approx(whole.width / 2, abs=1)


def test_picture_that_claims_to_be_endless_stays_in_the_budget(tmp_path: Path) -> None:
    path = _scan(tmp_path, (20, 20), (3000, 3000), 1.0)
    image = _drawn(path, ImageOptions(max_pixels=16_000_000))
    assert max(image.width, image.height) <= 4000


def test_page_image_has_the_same_budget(tmp_path: Path) -> None:
    path = tmp_path / "page.png"
    Image.effect_noise((3000, 4000), 60).save(path)
    image = child_process.draw_image(str(path), 0, 1, BUDGET, 1.0)
    assert image.width * image.height == pytest.approx(1_500_000, rel=0.01)
    before = child_process.draw_image(str(path), 0, 1, ImageOptions(), 1.0)
    assert before.width == 827
