"""Which files make a document, in which order, judged by what is in them."""

from pathlib import Path

import pytest

from quire.domain.document.page_images import natural_key
from quire.domain.errors import DocumentRefused
from quire.sources.file_kind import kind_of
from quire.sources.files import page_images
from testing import pdfs


def pages(*paths: Path, max_images: int = 200) -> list[str]:
    found = page_images(list(paths), max_images=max_images, max_bytes=10**7)
    return [path.name for path in found]


def test_people_sort_two_before_ten() -> None:
    names = ["page_10.png", "Page_2.png", "page_1.png", "page_02b.png", "cover.png", "page.png"]
    assert sorted(names, key=natural_key) == [
        "cover.png",
        "page.png",
        "page_1.png",
        "Page_2.png",
        "page_02b.png",
        "page_10.png",
    ]


def test_a_folder_gives_its_images_and_nothing_else(tmp_path: Path) -> None:
    picture = pdfs.picture_of("x", (50, 50))
    for name in ("p10.png", "p2.png", "scan-without-suffix"):
        (tmp_path / name).write_bytes(picture)
    (tmp_path / "p3.jpg").write_bytes(b"damaged, but called a page")
    (tmp_path / "notes.txt").write_text("no page")
    (tmp_path / ".hidden.png").write_bytes(picture)
    (tmp_path / "sub").mkdir()
    assert pages(tmp_path) == ["p2.png", "p3.jpg", "p10.png", "scan-without-suffix"]


def test_too_many_images(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(DocumentRefused) as caught:
        pages(tmp_path, max_images=3)
    assert (caught.value.info.code, caught.value.info.reason) == ("TOO_LARGE", "IMAGES")
    assert "MAX_IMAGES" in caught.value.info.remedy


def test_a_pdf_among_images_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(pdfs.picture_of("x", (50, 50)))
    pdfs.text_pdf(tmp_path / "b.pdf")
    with pytest.raises(DocumentRefused) as caught:
        pages(tmp_path / "a.png", tmp_path / "b.pdf")
    assert caught.value.info.reason == "SEVERAL"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"%PDF-1.7", "pdf"),
        (b"\0" * 900 + b"%PDF-1.4", "pdf"),
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"\xff\xd8\xff\xe0", "image"),
        (b"II*\0", "image"),
        (b"MM\0*", "image"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image"),
        (b"GIF89a", "image"),
        (b"BM" + b"\0" * 12 + b"\x28\0\0\0", "image"),
        (b"BMW is a car and no bitmap", None),
        (b"<html>", None),
        (b'{"quire_images":[]}', None),
    ],
)
def test_content_decides(head: bytes, kind: str | None) -> None:
    assert kind_of(head) == kind
