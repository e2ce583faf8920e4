"""Documents that are bytes and not files: they go into the store under their hash."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from quire.app import open_store
from quire.contracts.document import DocumentRequest
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.origin import STORED
from quire.settings import Settings
from quire.sources.file_kind import check_file
from quire.sources.files import hash_file, store_images

Content = bytes | bytearray | memoryview | IO[bytes]
PIECE = 1 << 20
UNNAMED = "document"


async def with_upload(
    settings: Settings, request: DocumentRequest, file: Path, name: str
) -> DocumentRequest:
    """The request for a document that is in the store, where every worker can reach it."""
    store = open_store(settings)
    if check_file(file, settings.max_file_size, name) == "pdf":
        sha256 = await asyncio.to_thread(hash_file, file)
        await store.put_file(source_key(sha256), file)
    else:
        sha256 = await store_images(store, [file])
    return request.model_copy(update={"source": STORED + sha256, "source_name": name})


@contextmanager
def as_file(content: Content, name: str, max_bytes: int) -> Iterator[Path]:
    """The content as a file for the time being; refused as soon as it is too large."""
    with tempfile.TemporaryDirectory(prefix="quire-") as folder:
        # Under its name, as messages and estimates show it; a name may hold a path of its own.
        file = Path(folder) / (Path(name).name or UNNAMED)
        with file.open("wb") as out:
            size = 0
            for piece in _pieces(content):
                size += len(piece)
                if size > max_bytes:
                    raise errors.too_many_bytes(f"{file.name!r} has more bytes", allowed=max_bytes)
                out.write(piece)
        yield file


def _pieces(content: Content) -> Iterator[bytes | memoryview]:
    if isinstance(content, bytes | bytearray | memoryview):
        yield memoryview(content).cast("B")
        return
    while piece := content.read(PIECE):
        if not isinstance(piece, bytes):
            raise errors.UsageError(
                "The file object gives text, not bytes.", "Open it with mode 'rb'."
            )
        yield piece
