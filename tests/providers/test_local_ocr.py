"""The OCR engine in its child process, on pages drawn here."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pymupdf
import pytest

from quire.contracts.codes import FailureKind
from quire.domain.document.transcription import PageImage, PageQuestion
from quire.domain.errors import AttemptFailed
from quire.providers.local_ocr import LocalOcrProvider, _Engine

ROOT = Path(__file__).resolve().parents[2]
LINES = [
    "Quarterly report of the Société Générale",
    "The quick brown fox jumps over the lazy dog.",
    "Invoice number 2026-0417, due on 31 March.",
    "Grüße aus München: naïve façade, año nuevo.",
    "Total amount payable: 1,234.56 EUR",
]

pytestmark = pytest.mark.skipif(
    not LocalOcrProvider.available(), reason="needs the OCR engine (make setup)"
)


def _draw(lines: list[str]) -> PageQuestion:
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=595, height=842)
    for number, line in enumerate(lines):
        page.insert_text((60, 80 + 18 * number), line, fontsize=11)
    pixels = page.get_pixmap(dpi=100)
    data = pixels.tobytes("jpeg", jpg_quality=70)  # type: ignore[no-untyped-call]
    return PageQuestion(PageImage(data, "image/jpeg", pixels.width, pixels.height), "", "")


def _draw_askew(degrees: float) -> PageQuestion:
    """Ten lines across the page, two columns of prose, and a last line across."""
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=595, height=842)
    head = "A head of ten long lines that go across both of the columns below them"
    lines = [(60.0, 80.0 + 18 * row, head) for row in range(10)]
    for column in range(2):
        x, y = 60.0 + 245 * column, 290.0 + 5 * column
        words = ["of ships and stones at sea", "and of the harbour"] * 4
        lines += [
            (x, y + 18 * row, f"column {column} line {row:02} {word}")
            for row, word in enumerate(words)
        ]
    lines.append((60.0, 460.0, "The last line of the page goes across both of the columns too"))
    centre = pymupdf.Point(300, 400)  # type: ignore[no-untyped-call]
    turn = pymupdf.Matrix(degrees)  # type: ignore[no-untyped-call]
    for x, y, line in lines:
        page.insert_text((x, y), line, fontsize=11, morph=(centre, turn))
    pixels = page.get_pixmap(dpi=100)
    data = pixels.tobytes("png")  # type: ignore[no-untyped-call]
    return PageQuestion(PageImage(data, "image/png", pixels.width, pixels.height), "", "")


def _distance(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


@pytest.fixture
async def engine() -> AsyncIterator[LocalOcrProvider]:
    provider = LocalOcrProvider()
    yield provider
    await provider.close()


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _ignores(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    ignored = next(line for line in status.splitlines() if line.startswith("SigIgn"))
    return bool(int(ignored.split()[1], 16) & 1 << number - 1)


def _gone(pid: int) -> bool:
    until = time.monotonic() + 2
    while _is_alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not _is_alive(pid)


async def test_page_is_read_with_few_errors(engine: LocalOcrProvider) -> None:
    answer = await engine.read_page("rapidocr", _draw(LINES), 60)
    expected = "\n".join(LINES)
    assert _distance(answer.text, expected) / len(expected) < 0.02
    assert answer.text.count("\n") == len(LINES) - 1
    assert answer.cost_usd == 0.0
    # Every line with its score and its place, as shares of the page.
    assert [line.text for line in answer.lines] == answer.text.splitlines()
    assert answer.score is not None
    assert 0.95 < answer.score <= 1
    left, top, right, bottom = answer.lines[0].box
    assert left == pytest.approx(60 / 595, abs=0.02)
    assert (top + bottom) / 2 == pytest.approx(76 / 842, abs=0.01)
    assert left < right < 0.6
    # The same process serves on, and finds nothing where nothing is.
    pid = engine.pid
    nothing = await engine.read_page("rapidocr", _draw([]), 60)
    assert (nothing.text, nothing.score, nothing.lines) == ("", None, ())
    assert engine.pid == pid
    junk = PageQuestion(PageImage(b"no image", "image/png", 1, 1), "", "")
    with pytest.raises(AttemptFailed) as caught:
        await engine.read_page("rapidocr", junk, 60)
    assert caught.value.kind is FailureKind.REQUEST
    assert engine.pid == pid
    # A parent that has it imported would pay its memory twice.
    assert "rapidocr" not in sys.modules
    assert "onnxruntime" not in sys.modules


async def test_columns_of_a_slanted_page_are_read_one_after_the_other(
    engine: LocalOcrProvider,
) -> None:
    text = (await engine.read_page("rapidocr", _draw_askew(2.0), 60)).text
    columns = [(int(a), int(b)) for a, b in re.findall(r"column (\d) line (\d\d)", text)]
    assert columns == [(column, row) for column in range(2) for row in range(8)]
    assert text.startswith("A head")
    assert text.splitlines()[-1].startswith("The last line")


@pytest.mark.parametrize(("degrees", "turn"), [(90, 1), (180, 2), (270, 3)])
async def test_turned_page_is_read_upright(
    engine: LocalOcrProvider, degrees: int, turn: int
) -> None:
    """`degrees` to the right."""
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=595, height=842)
    for number, line in enumerate(LINES):
        page.insert_text((60, 80 + 18 * number), line, fontsize=11)
    page.set_rotation(degrees)
    pixels = page.get_pixmap(dpi=100)
    image = PageImage(pixels.tobytes("png"), "image/png", pixels.width, pixels.height)
    answer = await engine.read_page("rapidocr", PageQuestion(image, "", ""), 60)
    expected = "\n".join(LINES)
    assert _distance(answer.text, expected) / len(expected) < 0.02
    assert answer.turn == turn
    left, top, _, _ = answer.lines[0].box
    assert (left, top) == pytest.approx((60 / 595, 70 / 842), abs=0.02)


async def test_very_slanted_page_is_read(engine: LocalOcrProvider) -> None:
    text = (await engine.read_page("rapidocr", _draw_askew(7.0), 60)).text
    columns = [(int(a), int(b)) for a, b in re.findall(r"column (\d) line (\d\d)", text)]
    assert columns == [(column, row) for column in range(2) for row in range(8)]


async def test_out_of_time_kills_the_child_and_the_next_page_gets_a_new_one(
    engine: LocalOcrProvider,
) -> None:
    await engine.warm_up()
    pid = engine.pid
    assert pid is not None
    began = time.monotonic()
    with pytest.raises(AttemptFailed) as caught:
        await engine.read_page("rapidocr", _draw(LINES * 8), 0.2)
    assert caught.value.kind is FailureKind.TIMEOUT
    assert time.monotonic() - began < 1.2
    assert await asyncio.to_thread(_gone, pid)
    assert LINES[1] in (await engine.read_page("rapidocr", _draw(LINES[:3]), 60)).text


async def test_loading_is_not_charged_to_the_page(
    engine: LocalOcrProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = _Engine.loaded

    async def load_slowly(child: _Engine) -> None:
        await loaded(child)
        await asyncio.sleep(8)

    monkeypatch.setattr(_Engine, "loaded", load_slowly)
    # Longer than an empty page takes on a busy machine, and shorter than loading.
    assert (await engine.read_page("rapidocr", _draw([]), 8)).text == ""


async def test_killed_child_fails_its_page_and_serves_the_next(engine: LocalOcrProvider) -> None:
    await engine.warm_up()
    page = asyncio.create_task(engine.read_page("rapidocr", _draw(LINES * 8), 60))
    await asyncio.sleep(0.5)
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)
    with pytest.raises(AttemptFailed) as caught:
        await page
    assert caught.value.kind is FailureKind.SERVER
    # Killed while idle, it is not even missed.
    await engine.warm_up()
    os.kill(engine.pid, signal.SIGKILL)
    assert (await engine.read_page("rapidocr", _draw(LINES[:1]), 60)).text == LINES[0]


async def test_cancelled_page_ends_its_child(engine: LocalOcrProvider) -> None:
    await engine.warm_up()
    pid = engine.pid
    assert pid is not None
    page = asyncio.create_task(engine.read_page("rapidocr", _draw(LINES * 8), 60))
    await asyncio.sleep(0.2)
    page.cancel()
    with pytest.raises(asyncio.CancelledError):
        await page
    assert await asyncio.to_thread(_gone, pid)


def test_child_ignores_interrupts_and_dies_with_its_parent() -> None:
    code = (
        "import asyncio, signal\n"
        "from quire.providers.local_ocr import LocalOcrProvider\n"
        # Shells start background jobs deaf to interrupts, and children inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "async def main():\n"
        "    provider = LocalOcrProvider(threads=1)\n"
        "    await provider.warm_up()\n"
        "    print(provider.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert _ignores(child, signal.SIGINT)
    parent.kill()
    parent.communicate()
    assert _gone(child)


def test_availability_is_told_without_importing() -> None:
    code = (
        "import sys\n"
        "from quire.providers.local_ocr import LocalOcrProvider\n"
        "print(LocalOcrProvider.available(), 'rapidocr' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]
