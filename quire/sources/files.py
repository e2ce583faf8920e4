"""Files on this machine: a PDF, or page images that together are one document."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from quire.contracts.stored import ImageList
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.page_images import natural_key
from quire.ports import Store
from quire.sources.file_kind import HEAD, check_file, kind_of

_PIECE = 256 * 1024
IMAGE_NAMES = {".png", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".webp", ".gif", ".bmp"}


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, which is read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save_stream(stream: BinaryIO, target: Path, max_bytes: int, name: str) -> None:
    """Write a stream into a file; one that is too large is not read to its end."""
    received = 0
    with target.open("wb") as file:
        while piece := stream.read(_PIECE):
            if not isinstance(piece, bytes):
                raise errors.UsageError(
                    "The file object gives text, not bytes.", "Open it with mode 'rb'."
                )
            received += len(piece)
            if received > max_bytes:
                found = f"{name!r} has over {received:,} bytes"
                raise errors.too_many_bytes(found, allowed=max_bytes)
            file.write(piece)


def page_images(paths: Sequence[Path], *, max_images: int, max_bytes: int) -> list[Path]:
    """The page images of a folder or a list of files, in the order in which people sort names.

    A file with the name of an image is a page even if it is damaged: leaving it out would lose a
    page silently. Other files are ignored in a folder and refused in a list.
    """
    if len(paths) == 1 and paths[0].is_dir():
        found = [path for path in paths[0].iterdir() if path.is_file() and _is_page(path)]
        if not found:
            raise errors.no_images_in_folder(paths[0].name)
    else:
        found = list(paths)
        for path in found:
            if not (path.is_file() and _is_page(path)):
                check_file(path, max_bytes)  # raises what is wrong with it, unless it is a PDF
                raise errors.pdf_among_several(path.name)
    if len(found) > max_images:
        raise errors.too_many_images(found=len(found), allowed=max_images)
    for path in found:
        size = path.stat().st_size
        if size > max_bytes:
            raise errors.too_many_bytes(f"{path.name!r} has {size:,} bytes", allowed=max_bytes)
    return sorted(found, key=lambda path: (natural_key(path.name), str(path)))


async def store_images(store: Store, files: Sequence[Path]) -> str:
    """Store the raw bytes of every file, then their list; returns the list's hash."""
    hashes = []
    for path in files:
        sha256 = await asyncio.to_thread(hash_file, path)
        await store.put_file(source_key(sha256), path)
        hashes.append(sha256)
    data = ImageList(quire_images=tuple(hashes)).model_dump_json().encode()
    sha256 = hashlib.sha256(data).hexdigest()
    await store.put(source_key(sha256), data)
    return sha256


def _is_page(path: Path) -> bool:
    if path.name.startswith("."):
        return False
    if path.suffix.lower() in IMAGE_NAMES:
        return True
    try:
        with path.open("rb") as file:
            return kind_of(file.read(HEAD)) == "image"
    except OSError:
        return False
