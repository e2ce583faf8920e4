"""Page images as one document."""

import io
import os
import subprocess
import threading
import time
from pathlib import Path

from PIL import Image

from testing import pdfs
from testing.tool import Tool
from testing.vendor.standin import StandIn


def test_a_folder_is_one_document_and_a_bad_image_one_failed_page(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    scans = tmp_path / "scans"
    scans.mkdir()
    for number in (1, 2, 10):
        (scans / f"page_{number}.png").write_bytes(pdfs.picture_of(f"number {number}"))
    (scans / "page_3.jpg").write_bytes(b"\xff\xd8\xff damaged")
    pages = [Image.open(io.BytesIO(pdfs.picture_of(f"sheet {n}"))) for n in (1, 2)]
    pages[0].save(scans / "page_4.tif", save_all=True, append_images=pages[1:])
    (scans / "notes.txt").write_text("not a page")
    ran = tool.process(scans)
    assert ran.code == 0, ran.err
    assert [page["source"] for page in ran.pages] == ["ai", "ai", "mupdf_fallback", *["ai"] * 3]
    assert ran.pages[2]["error"]["code"] == "IO_ERROR"
    assert ran.json["metadata"]["pages_failed"] == 1
    assert ran.json["source"] == "scans"
    assert len(vendor.calls()) == 5
    files = sorted(scans.glob("page_*"))
    again = tool.run("process", *files, "--json")
    assert again.json["sha256"] == ran.json["sha256"], "the same pictures, the same document"
    assert len(vendor.calls()) == 5, "good pages are not bought again"


def test_no_image_can_be_opened(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"garbage")
    ran = tool.run("process", tmp_path / "a.png", tmp_path / "a.png", "--json")
    assert ran.code == 3
    assert (ran.json["error"]["code"], ran.json["error"]["reason"]) == ("NOT_PDF", "NO_PAGES")


def test_memory_does_not_grow_with_the_number_of_images(tool: Tool, tmp_path: Path) -> None:
    picture = Image.effect_noise((1654, 2339), 60).convert("RGB")
    peaks = {}
    for count in (4, 20):
        folder = tmp_path / str(count)
        folder.mkdir()
        for number in range(count):
            picture.putpixel((0, 0), (number, count, 0))
            picture.save(folder / f"{number}.png", compress_level=0)
        peaks[count] = peak_mb(tool.start("process", folder, "--json"))
    # 16 more pictures of 12 MB each
    assert peaks[20] - peaks[4] < 80, peaks


def peak_mb(process: "subprocess.Popen[str]") -> float:
    """The largest resident memory of the command and the workers in it."""
    peak = 0.0

    def look() -> None:
        nonlocal peak
        while process.poll() is None:
            try:
                pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
            except (OSError, IndexError):
                return
            peak = max(peak, pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
            time.sleep(0.05)

    looking = threading.Thread(target=look)
    looking.start()
    _, err = process.communicate(timeout=150)
    looking.join()
    assert process.returncode == 0, err
    return peak
