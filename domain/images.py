"""A document made of page images: files in the order of their names, pages in theirs."""

import re
from typing import NamedTuple

from domain.contracts import Wire

_DIGITS = re.compile(r"(\d+)")
# How the stored forms of `ImageList` and `ImageManifest` begin; no PDF or image does.
LIST_BEGINS = b'{"quire_images"'


class ImageList(Wire):
    """The files as they came, by the hash of their bytes; not yet looked into."""

    quire_images: tuple[str, ...]


class ImagePage(NamedTuple):
    """One page: a file, and which of its pictures."""

    sha256: str
    frame: int


class ImageManifest(Wire):
    """The document itself: its hash is the document's. Names are no part of it, so the same
    pictures are the same document whatever they are called."""

    quire_pages: tuple[ImagePage, ...]


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Sorts as people do: page_2 before page_10, capitals beside small letters."""
    parts = _DIGITS.split(name.casefold())
    return (
        tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part),
        name,
    )
