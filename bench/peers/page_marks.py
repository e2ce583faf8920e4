"""What is left of a document, counted in the same way in any tool's output."""

import contextlib
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from bench.peers.contest import Claim

MARK = re.compile(rb"seen-([0-9a-f]{12})")
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError)


def marks_in(folder: Path) -> set[str]:
    """The pages' marks in every file below a folder, also within zip archives."""
    return {
        found.decode() for content in _contents(folder) for found in MARK.findall(content)
    }  # fmt: skip


def _contents(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        if path.suffix == ".zip":
            yield from _unzipped(path)
        else:
            yield path.read_bytes()


def _unzipped(path: Path) -> Iterator[bytes]:
    """What can be read of it: a killed tool may have left half an archive."""
    with contextlib.suppress(*BROKEN), zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            yield archive.read(name)


NONE_MISSING = "none is missing"
NAMED = "names them"
IN_LOG = "in its log only"
FAILED = "only says that it failed"
STOPPED = "not finished at our limit"


def truth(missing: int, exit_code: int | None, claim: Claim) -> str:
    """Whether a user can learn which pages lack the model's text.

    An error as exit code says that something is wrong, but not what. A tool that had to be stopped
    (no exit code) has said nothing yet.
    """
    if exit_code is None:
        return STOPPED
    if missing <= 0:
        return NONE_MISSING
    if len(claim.result) >= missing:
        return NAMED
    if len(claim.log) >= missing:
        return IN_LOG
    if exit_code != 0:
        return FAILED
    return f"no: {missing} pages missing unnamed"
