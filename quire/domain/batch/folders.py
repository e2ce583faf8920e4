"""A folder a document: names that people know, and no two documents in one folder."""

import re
from collections.abc import Sequence

# What every file system takes, with room for a number.
LONGEST = 80
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]+')


def folder_names(documents: Sequence[tuple[int, str]]) -> dict[int, str]:
    """By a document's number, the name of its folder: the number, and its file's name. So they sort
    as the batch does, no two are one, and none depends on which others have ended."""
    return {number: f"{number:05d}-{_plain(source)}" for number, source in documents}


def _plain(source: str) -> str:
    name = _UNSAFE.sub("_", source.rstrip("/").rpartition("/")[2])
    stem = name[:-4] if name.lower().endswith(".pdf") else name
    return stem.strip(". ")[:LONGEST].strip(". ") or "document"
