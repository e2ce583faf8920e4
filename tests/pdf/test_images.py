"""Page images as scanners and phones make them: every page upright, on white, in eight bits."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from quire.contracts.page import Classification
from quire.contracts.reading import ImageOptions
from quire.domain.errors import AttemptFailed
from quire.pdf.reader import Documents

PNG = ImageOptions(format="png")


@pytest.fixture(scope="module")
def documents() -> Iterator[Documents]:
    reader = Documents(processes=1)
    yield reader
    reader.close()


def sheet(mode: str = "RGB", size: tuple[int, int] = (600, 850)) -> Image.Image:
    """White paper with a black block in its upper left corner."""
    image = Image.new(mode, size, "white")
    ImageDraw.Draw(image).rectangle((30, 30, 200, 120), fill="black")
    return image


async def drawn(documents: Documents, path: Path, frame: int = 0) -> Image.Image:
    page = await documents.render_image(path, frame, 1, PNG)
    image = Image.open(io.BytesIO(page.data))
    assert image.size == (page.width, page.height)
    return image


def is_black_at(image: Image.Image, x: float, y: float) -> bool:
    pixel = image.convert("L").getpixel((int(image.width * x), int(image.height * y)))
    assert isinstance(pixel, int)
    return pixel < 60


def looks_right(image: Image.Image) -> bool:
    return (
        is_black_at(image, 0.2, 0.09)
        and not is_black_at(image, 0.8, 0.09)
        and not is_black_at(image, 0.2, 0.9)
    )


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "webp", "gif", "bmp"])
async def test_formats(documents: Documents, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"wrong-name-{suffix}"
    sheet().save(path, {"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix.upper()))
    assert await documents.count_frames(path) == 1
    assert looks_right(await drawn(documents, path))


@pytest.mark.parametrize("kind", ["JPEG", "TIFF", "PNG", "WEBP"])
async def test_exif_rotation(documents: Documents, tmp_path: Path, kind: str) -> None:
    exif = Image.Exif()
    exif[274] = 6  # the camera was held upright: turn clockwise to look at it
    sheet().transpose(Image.Transpose.ROTATE_90).save(tmp_path / "p", kind, exif=exif)
    image = await drawn(documents, tmp_path / "p")
    assert image.height > image.width
    assert looks_right(image)


@pytest.mark.parametrize("mode", ["CMYK", "L", "1", "P"])
async def test_colour_spaces(documents: Documents, tmp_path: Path, mode: str) -> None:
    sheet().convert(mode).save(tmp_path / "p", "TIFF")
    assert looks_right(await drawn(documents, tmp_path / "p"))


async def test_adobe_cmyk_jpeg(documents: Documents, tmp_path: Path) -> None:
    sheet().convert("CMYK").save(tmp_path / "p", "JPEG")
    assert looks_right(await drawn(documents, tmp_path / "p"))


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
async def test_alpha_lies_on_white(documents: Documents, tmp_path: Path, mode: str) -> None:
    image = Image.new("RGBA", (600, 850), (0, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((30, 30, 200, 120), fill=(0, 0, 0, 255))
    image.convert(mode).save(tmp_path / "p", "PNG")
    assert looks_right(await drawn(documents, tmp_path / "p"))


@pytest.mark.parametrize("white", [65535, 4095], ids=["16 bits", "12 of 16 bits"])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
async def test_sixteen_bits(documents: Documents, tmp_path: Path, white: int, kind: str) -> None:
    wide = sheet("L").convert("I").point(lambda v: v * (white / 255)).convert("I;16")
    wide.save(tmp_path / "p", kind)
    assert looks_right(await drawn(documents, tmp_path / "p"))


async def test_pages_of_a_tiff(documents: Documents, tmp_path: Path) -> None:
    upside_down = sheet().transpose(Image.Transpose.ROTATE_180)
    sheet().save(tmp_path / "p", "TIFF", save_all=True, append_images=[upside_down, sheet()])
    assert await documents.count_frames(tmp_path / "p") == 3
    assert looks_right(await drawn(documents, tmp_path / "p", 2))
    assert is_black_at(await drawn(documents, tmp_path / "p", 1), 0.8, 0.91)


async def test_large_pictures_become_pages(documents: Documents, tmp_path: Path) -> None:
    sheet(size=(3000, 4000)).save(tmp_path / "p", "JPEG")
    image = await drawn(documents, tmp_path / "p")
    assert 800 <= image.width <= 850, "as wide as a page at 100 dpi"
    sheet(size=(400, 500)).save(tmp_path / "s", "PNG")
    assert (await drawn(documents, tmp_path / "s")).size == (400, 500), "never enlarged"


async def test_survey(documents: Documents, tmp_path: Path) -> None:
    sheet().save(tmp_path / "p", "PNG")
    Image.new("RGB", (600, 850), "white").save(tmp_path / "w", "PNG")
    assert (await documents.survey_image(tmp_path / "p", 0, 1)).classification is (
        Classification.SCANNED
    )
    assert (await documents.survey_image(tmp_path / "w", 0, 2)).classification is (
        Classification.BLANK
    )


async def test_damaged_images_fail_alone(documents: Documents, tmp_path: Path) -> None:
    whole = io.BytesIO()
    sheet().effect_spread(40).save(whole, "JPEG")
    (tmp_path / "cut").write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    (tmp_path / "no").write_bytes(b"no image at all")
    assert await documents.count_frames(tmp_path / "no") == 0
    for name in ("cut", "no"):
        survey = await documents.survey_image(tmp_path / name, 0, 1)
        assert "damaged" in survey.reason
        assert survey.classification is Classification.SCANNED, "a model's page, that will fail"
        with pytest.raises(AttemptFailed) as caught:
            await drawn(documents, tmp_path / name)
        assert caught.value.info.reason == "RENDER"


async def test_bombs_are_refused(documents: Documents, tmp_path: Path) -> None:
    Image.new("1", (30_000, 30_000)).save(tmp_path / "bomb", "PNG")
    assert (tmp_path / "bomb").stat().st_size < 300_000
    with pytest.raises(AttemptFailed):
        await drawn(documents, tmp_path / "bomb")
