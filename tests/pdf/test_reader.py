"""The facade on made files: what it answers, what it refuses, and what it survives."""

import asyncio
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import forkserver
from pathlib import Path
from typing import Any, Literal

import pytest
from PIL import Image

from quire.contracts.codes import Code, FailureKind
from quire.contracts.page import Classification
from quire.contracts.reading import ImageOptions
from quire.domain.errors import AttemptFailed, DocumentRefused, QuireError
from quire.pdf import fork_server
from quire.pdf.reader import Documents
from quire.pdf.render import MAX_SIDE
from testing import pdfs
from tests.pdf.processes import descendants, fork_servers

MB = 1024 * 1024
PLAIN = ImageOptions()


@pytest.fixture
def documents() -> Iterator[Documents]:
    reader = Documents(processes=2)
    yield reader
    reader.close()


@pytest.fixture
def hasty() -> Iterator[Documents]:
    """Gives up early, so that a hang costs a test only moments."""
    reader = Documents(processes=1, survey_timeout_s=1.0, render_timeout_s=1.2)
    yield reader
    reader.close()


async def test_counts_surveys_and_draws(documents: Documents, tmp_path: Path) -> None:
    path = pdfs.mixed_pdf(tmp_path / "a.pdf", text_pages=40, vision_pages=30)
    assert await documents.inspect(path) == 70
    pages = await documents.survey(path, 3, 68)  # more than one chunk
    assert [page.page for page in pages] == list(range(3, 69))
    for page in pages:
        wanted = Classification.TEXT_ONLY if page.page <= 40 else Classification.HAS_GRAPHICS
        assert page.classification == wanted, page.reason
        assert f"marker-{page.page:03d}" in page.text
    image = await documents.render(path, 70, PLAIN)
    assert (image.width, image.height, image.media_type) == (827, 1170, "image/jpeg")


@pytest.mark.parametrize("form", ["jpeg", "png", "webp"])
@pytest.mark.parametrize("color", ["rgb", "gray"])
async def test_formats_and_colours(
    documents: Documents,
    tmp_path: Path,
    form: Literal["jpeg", "png", "webp"],
    color: Literal["rgb", "gray"],
) -> None:
    path = pdfs.mixed_pdf(tmp_path / "a.pdf", 0, 1)
    options = ImageOptions(dpi=60, color=color, format=form)
    drawn = await documents.render(path, 1, options)
    image = Image.open(io.BytesIO(drawn.data))
    assert image.format == form.upper()
    assert drawn.media_type == f"image/{form}"
    assert image.size == (drawn.width, drawn.height) == (496, 702)
    if form != "webp":  # WebP has no grey of its own
        assert image.mode == ("L" if color == "gray" else "RGB")
    r, g, b = image.convert("RGB").getpixel((125, 600))  # type: ignore[misc]  # inside a blue bar
    assert (abs(r - b) > 60) == (color == "rgb"), (r, g, b)


async def test_scale_and_quality_count(documents: Documents, tmp_path: Path) -> None:
    path = pdfs.mixed_pdf(tmp_path / "a.pdf", 0, 1)
    whole = await documents.render(path, 1, PLAIN)
    half = await documents.render(path, 1, PLAIN, scale=0.5)
    assert abs(half.width * 2 - whole.width) <= 1
    rough = await documents.render(path, 1, ImageOptions(jpeg_quality=20))
    assert len(rough.data) < len(whole.data)


@pytest.mark.parametrize("size", [(14000, 9000), (3, 14000), (0.5, 0.5)])
async def test_absurd_page_sizes(
    documents: Documents, tmp_path: Path, size: tuple[float, float]
) -> None:
    with pdfs.pymupdf.open() as document:
        document.new_page(width=size[0], height=size[1])
        document.save(tmp_path / "a.pdf")
    (page,) = await documents.survey(tmp_path / "a.pdf", 1, 1)
    assert page.classification == Classification.BLANK
    image = await documents.render(tmp_path / "a.pdf", 1, ImageOptions(dpi=300))
    assert min(image.width, image.height) >= 1
    assert max(image.width, image.height) <= MAX_SIDE + 1


@pytest.mark.parametrize(
    ("content", "code", "reason"),
    [
        (b"", Code.NOT_PDF, "EMPTY"),
        (b"Dear reader, this is a letter.\n", Code.NOT_PDF, "NOT_PDF"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 64, Code.NOT_PDF, "NOT_PDF"),
        (b"%PDF-1.7\n" + b"\xff\x00" * 400, Code.NOT_PDF, None),
    ],
)
async def test_refusals(
    documents: Documents, tmp_path: Path, content: bytes, code: Code, reason: str | None
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    with pytest.raises(DocumentRefused) as refused:
        await documents.inspect(path)
    info = refused.value.info
    assert info.code == code
    assert info.reason == reason if reason else info.reason in ("DAMAGED", "NO_PAGES")
    assert str(tmp_path) not in info.line()


async def test_a_file_that_is_gone(documents: Documents, tmp_path: Path) -> None:
    with pytest.raises(DocumentRefused) as refused:
        await documents.inspect(tmp_path / "gone.pdf")
    assert (refused.value.info.code, refused.value.info.reason) == (Code.IO_ERROR, "SOURCE_GONE")


async def test_blanks_in_a_password_count(documents: Documents, tmp_path: Path) -> None:
    path = pdfs.locked_pdf(tmp_path / "a.pdf", " open sesame ", "boss")
    for given, reason in ((None, "PASSWORD_MISSING"), ("open sesame", "PASSWORD_WRONG")):
        with pytest.raises(DocumentRefused) as refused:
            await documents.inspect(path, given)
        assert (refused.value.info.code, refused.value.info.reason) == (Code.IO_ERROR, reason)
    for right in (" open sesame ", "boss"):
        assert await documents.inspect(path, right) == 1
        assert "locked page" in (await documents.survey(path, 1, 1, right))[0].text
        assert (await documents.render(path, 1, PLAIN, right)).width == 827


async def test_a_changed_file_is_opened_anew(documents: Documents, tmp_path: Path) -> None:
    path = pdfs.text_pdf(tmp_path / "a.pdf", pages=2)
    assert await documents.inspect(path) == 2
    pdfs.text_pdf(path, pages=5)
    assert await documents.inspect(path) == 5


async def test_no_such_page(documents: Documents, tmp_path: Path) -> None:
    path = pdfs.text_pdf(tmp_path / "a.pdf")
    with pytest.raises(AttemptFailed) as failed:
        await documents.render(path, 2, PLAIN)
    assert failed.value.kind == FailureKind.RENDER


async def test_a_page_that_never_ends_fails_alone(hasty: Documents, tmp_path: Path) -> None:
    path = pdfs.endless_pdf(tmp_path / "a.pdf", endless_page=2, pages=3)
    assert await hasty.inspect(path) == 3
    began = time.monotonic()
    with pytest.raises(AttemptFailed) as failed:
        await hasty.render(path, 2, PLAIN)
    assert failed.value.kind == FailureKind.RENDER
    assert "too long" in str(failed.value)
    assert time.monotonic() - began < 4
    assert (await hasty.render(path, 1, PLAIN)).width == 827
    first, second, third = await hasty.survey(path, 1, 3)
    assert "page-001" in first.text
    assert "page-003" in third.text
    assert (second.classification, second.text) == (Classification.SCANNED, "")
    assert second.reason == "could not be surveyed: it takes too long"


async def test_a_page_that_eats_memory_fails_alone(tmp_path: Path) -> None:
    reader = Documents(processes=1, memory_bytes=300 * MB)
    try:
        good = pdfs.text_pdf(tmp_path / "good.pdf")
        layers = pdfs.greedy_drawing_pdf(tmp_path / "layers.pdf")
        with pytest.raises(AttemptFailed, match="too much memory") as failed:
            await reader.render(layers, 1, ImageOptions(dpi=200))
        assert failed.value.kind == FailureKind.RENDER
        assert (await reader.render(good, 1, PLAIN)).width == 827
        (page,) = await reader.survey(pdfs.greedy_text_pdf(tmp_path / "text.pdf"), 1, 1)
        assert page.classification == Classification.SCANNED
        assert "too much memory" in page.reason
        assert "page-001" in (await reader.survey(good, 1, 1))[0].text
    finally:
        reader.close()


async def test_cancelling_frees_the_child(tmp_path: Path) -> None:
    reader = Documents(processes=1)
    try:
        path = pdfs.endless_pdf(tmp_path / "a.pdf", endless_page=1, pages=2)
        await reader.inspect(path)
        drawing = asyncio.create_task(reader.render(path, 1, PLAIN))
        queued = asyncio.create_task(reader.render(path, 1, PLAIN))
        after = asyncio.create_task(reader.render(path, 2, PLAIN))
        await asyncio.sleep(0.3)
        queued.cancel()
        drawing.cancel()
        image = await asyncio.wait_for(after, timeout=5)
        assert image.width == 827
        assert drawing.cancelled()
        assert queued.cancelled()
        await _until(lambda: len(_readers()) == 1)
    finally:
        reader.close()


async def test_a_child_killed_in_the_middle_is_replaced(tmp_path: Path) -> None:
    reader = Documents(processes=1)
    try:
        path = pdfs.mixed_pdf(tmp_path / "a.pdf", 200, 50)
        await reader.inspect(path)
        survey = asyncio.create_task(reader.survey(path, 1, 250))
        await _kill_readers_during(survey)
        assert len(await survey) == 250
        assert all(page.text for page in await survey)
        render = asyncio.create_task(reader.render(path, 250, ImageOptions(dpi=300)))
        await _kill_readers_during(render)
        assert (await render).height == 3509
    finally:
        reader.close()


@pytest.mark.parametrize("pause", [0.0, 0.4], ids=["before Pebble sees it", "after"])
async def test_an_idle_child_killed_is_replaced(tmp_path: Path, pause: float) -> None:
    reader = Documents(processes=1)
    try:
        path = pdfs.text_pdf(tmp_path / "a.pdf")
        assert await reader.inspect(path) == 1
        for pid in _readers():
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(pause)
        assert (await reader.render(path, 1, PLAIN)).width == 827
    finally:
        reader.close()


async def test_a_killed_fork_server_is_replaced(documents: Documents, tmp_path: Path) -> None:
    path = pdfs.text_pdf(tmp_path / "a.pdf")
    assert await documents.inspect(path) == 1
    for pid in fork_servers(os.getpid()):
        os.kill(pid, signal.SIGKILL)
    assert (await documents.render(path, 1, PLAIN)).width == 827


async def test_many_calls_at_once_share_the_children(documents: Documents, tmp_path: Path) -> None:
    path = pdfs.text_pdf(tmp_path / "a.pdf", pages=20)
    images = await asyncio.gather(*(documents.render(path, n, PLAIN) for n in range(1, 21)))
    assert len({image.data for image in images}) == 20
    assert len(_readers()) == 2


async def test_after_closing_nothing_is_read(tmp_path: Path) -> None:
    path = pdfs.text_pdf(tmp_path / "a.pdf")
    reader = Documents(processes=2)
    reader.warm_up()
    await reader.inspect(path)
    assert _readers()
    reader.close()
    assert not _readers()
    with pytest.raises(RuntimeError, match="closed"):
        await reader.inspect(path)


def _readers() -> list[int]:
    return descendants(os.getpid(), depth=2)


async def _kill_readers_during(task: asyncio.Task[Any]) -> None:
    await asyncio.sleep(0.03)
    assert not task.done()
    for pid in _readers():
        os.kill(pid, signal.SIGKILL)
    await asyncio.wait_for(asyncio.shield(task), timeout=20)


async def _until(met: Callable[[], bool], seconds: float = 3.0) -> None:
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "not met in time"
        await asyncio.sleep(0.05)


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Documents]:
    """Its children find a package of our name that cannot be imported."""
    package = tmp_path / "broken" / "quire"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError")
    path = [str(package.parent), *sys.path]
    monkeypatch.setattr(fork_server, "import_path", lambda _: path)
    # Another test's server has imported the real package, and must not get this one.
    server: Any = forkserver._forkserver
    server._stop()
    reader = Documents(processes=1)
    yield reader
    reader.close()
    server._stop()


@pytest.fixture
def starved() -> Iterator[Documents]:
    """Its children have too little memory to start."""
    reader = Documents(processes=1, memory_bytes=1)
    yield reader
    reader.close()


@pytest.mark.parametrize("reader", ["broken", "starved"])
async def test_a_child_that_cannot_start_is_our_fault(
    reader: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    documents: Documents = request.getfixturevalue(reader)
    path = pdfs.text_pdf(tmp_path / "a.pdf")
    for step in (
        documents.inspect(path),
        documents.survey(path, 1, 1),
        documents.render(path, 1, PLAIN),
        documents.count_frames(path),
    ):
        with pytest.raises(QuireError) as failed:
            await step
        assert (failed.value.info.code, failed.value.info.reason) == (Code.UNKNOWN, "BUG")
