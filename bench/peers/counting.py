"""What is left of a document, counted in the same way in any tool's output."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from bench.peers.contest import Told

MARK = re.compile(rb"seen-([0-9a-f]{12})")


def marks_in(folder: Path) -> set[str]:
    """The pages' marks in every file below a folder, also within zip archives."""
    return {
        found.decode() for content in _contents(folder) for found in MARK.findall(content)
    }  # fmt: skip


def _contents(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        if path.suffix == ".zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    yield archive.read(name)
        else:
            yield path.read_bytes()


def truth(missing: int, exit_code: int | None, told: Told) -> str:
    """Whether a user can learn which pages lack the model's text.

    Yes, when none does, when the exit code is an error, or when the result names as many pages as
    are missing. Names that stand in the log alone are said to be there. A tool that had to be
    stopped (no exit code) has said nothing yet.
    """
    if exit_code is None:
        return "no word: it had to be stopped"
    if missing <= 0 or exit_code != 0 or len(told.result) >= missing:
        return "yes"
    if len(told.log) >= missing:
        return "in its log only"
    return f"no: {missing} pages missing unnamed"
