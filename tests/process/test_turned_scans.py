"""Scans that lie on their sides or upside down: models are sent them upright."""

import io
from pathlib import Path

import pytest
from PIL import Image

from testing import pdfs
from testing.tool import Tool
from testing.vendor.standin import StandIn
from testing.vendor.wire import Asked


def _way_up(asked: Asked) -> str:
    """The scan is higher than wide, and its lower half is empty."""
    with Image.open(io.BytesIO(asked.image)) as picture:
        grey = picture.convert("L")
    if grey.width > grey.height:
        return "It lies on its side."
    dark = [
        sum(grey.crop((0, top, grey.width, top + grey.height // 2)).histogram()[:128])
        for top in (0, grey.height // 2)
    ]
    return "It stands upright." if dark[0] > dark[1] else "It stands on its head."


@pytest.mark.servers
@pytest.mark.parametrize(("wanted", "turns"), [("auto", [0, 3, 2, 1]), ("off", [0, 0, 0, 0])])
def test_models_are_sent_scans_upright(tmp_path: Path, wanted: str, turns: list[int]) -> None:
    scans = pdfs.turned_scans_pdf(tmp_path / "scans.pdf")
    with StandIn(answer=_way_up) as vendor:
        tool = Tool(tmp_path / "state", vendor).warmed().also(LOCAL_OCR="auto", TURN_PAGES=wanted)
        out = tool.process(scans)
        assert out.code == 0, out.err
        assert out.sources() == {"ai": 4}
        assert len(vendor.calls()) == 4
    assert [page["turn"] for page in out.pages] == turns
    upright = out.text().count("It stands upright.")
    assert upright == (4 if wanted == "auto" else 1)
