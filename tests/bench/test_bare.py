"""The bare script: its clock runs for the document alone."""

from pathlib import Path

import pytest

from bench.commands import WrongRun, bare, check_calls, prepare
from testing import pdfs
from testing.vendor.process import StandInProcess


def test_warming_up_is_a_call_more_and_not_on_the_clock(tmp_path: Path) -> None:
    source, text = pdfs.mixed_pdf(tmp_path / "pages.pdf", 0, 2), tmp_path / "text.txt"
    with StandInProcess() as vendor:
        prepare(vendor, 0.5)
        warm = bare(source, text, vendor, 2, warm=True)
        check_calls(vendor, 3)
        assert warm.wall_s - warm.seconds > 0.5
        assert text.read_text()
        prepare(vendor, 0.0)
        bare(source, text, vendor, 2, warm=False)
        check_calls(vendor, 2)
        with pytest.raises(WrongRun, match="2 calls were made, not 3"):
            check_calls(vendor, 3)
