"""The demo document shows every class of page, and is the same every time."""

import os
import subprocess
import sys
from pathlib import Path

from quire.contracts.page import Classification
from quire.pdf.classify import classify
from quire.pdf.signals import measure_page
from samples.make_sample import make_sample
from testing import pdfs


def test_every_class_of_page(tmp_path: Path) -> None:
    with pdfs.pymupdf.open(make_sample(tmp_path / "new folder" / "a.pdf")) as document:
        seen = [classify(measure_page(page)[0])[0] for page in document]
    assert seen == [
        Classification.TEXT_ONLY,
        Classification.HAS_GRAPHICS,
        Classification.SCANNED,
        Classification.SCANNED,
        Classification.SCANNED,
        Classification.BLANK,
    ]


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    first, second = (make_sample(tmp_path / name).read_bytes() for name in ("a.pdf", "b.pdf"))
    assert first == second


def test_as_a_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "samples.make_sample"]
    root = Path(__file__).parents[2]
    assert subprocess.run([*command, tmp_path / "a.pdf"], cwd=root).returncode == 0
    assert (tmp_path / "a.pdf").stat().st_size > 10_000
    assert subprocess.run(command, cwd=root, stderr=subprocess.DEVNULL).returncode == 2


def test_help_makes_no_document(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "samples.make_sample", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "OUT.pdf" in ran.stdout
    assert not list(tmp_path.iterdir())
