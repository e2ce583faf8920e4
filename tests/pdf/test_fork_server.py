"""What children import: never a file of the folder in which someone runs the tool."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quire.pdf.fork_server import import_path
from testing import pdfs

ROOT = Path(__file__).parents[2]
# What the children, their fork server or its resource tracker import, and names of our own.
HOSTILE = (
    "quire.py", "PIL.py", "pymupdf.py", "signal.py", "struct.py", "settings.py", "workflows.py",
    "pickle.py", "activities/__init__.py",
)  # fmt: skip
READ = """
import asyncio, sys
from pathlib import Path
from quire.pdf.reader import Documents

async def main(path):
    documents = Documents(processes=1)
    documents.warm_up()
    try:
        pages = await documents.inspect(path)
        print(pages, (await documents.survey(path, 1, 1))[0].text)
    finally:
        documents.close()

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    """A folder whose modules leave a mark when something imports them."""
    folder = tmp_path / "downloads"
    for name in HOSTILE:
        module = folder / name
        module.parent.mkdir(parents=True, exist_ok=True)
        mark = tmp_path / f"imported {name.replace('/', ' ')}"
        module.write_text(f"open({str(mark)!r}, 'w').close()\n")
    return folder


def test_children_import_nothing_from_the_current_folder(tmp_path: Path, downloads: Path) -> None:
    script = tmp_path / "tool" / "read.py"
    script.parent.mkdir()
    script.write_text(READ)
    document = pdfs.text_pdf(tmp_path / "document.pdf")
    done = subprocess.run(
        [sys.executable, str(script), str(document)],
        cwd=downloads,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not sorted(path.name for path in tmp_path.glob("imported *"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 ")
    assert len(done.stdout) > 10


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["/bin", "/lib", str(ROOT)], ["/bin", "/lib", str(ROOT)]),
        (["", "/lib", str(ROOT)], ["/lib", str(ROOT)]),
        (["", "/lib"], [str(ROOT), "/lib"]),
        (["/lib", ".", "/site"], ["/lib", str(ROOT), "/site"]),
        (["/lib"], ["/lib", str(ROOT)]),
    ],
)
def test_our_folder_takes_the_place_of_the_current_one(
    path: list[str], expected: list[str]
) -> None:
    assert import_path(path) == expected
