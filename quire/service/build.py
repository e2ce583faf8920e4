"""Which code this is: a service of another version, or of files that were changed since, must not
serve a command."""

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("quire", "workflows", "activities")


@cache
def build_stamp() -> str:
    """A hash over the interpreter, what is installed beside it, and the files of the packages."""
    found = hashlib.sha256(f"{sys.version}\0{sys.prefix}\0{ROOT}".encode())
    for path in _folders_of_libraries():
        found.update(f"{path}\0{path.stat().st_mtime_ns}\0".encode())
    for package in _PACKAGES:
        for name, size, changed in sorted(_files(str(ROOT / package))):
            found.update(f"{name}\0{size}\0{changed}\0".encode())
    return found.hexdigest()[:16]


def _folders_of_libraries() -> list[Path]:
    """An installation adds a folder to them, and so changes their time."""
    return [path for path in map(Path, sys.path) if path.name == "site-packages" and path.is_dir()]


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _files(entry.path)
