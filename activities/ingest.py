"""ingest_source: fetch a document, check it, and put it into the store under its hash."""

import asyncio
import hashlib
from pathlib import Path

from temporalio import activity

from activities.failures import failures_for_temporal
from activities.heartbeats import heartbeats
from activities.ports import DocumentReader
from domain.contracts import DocumentRequest, SourceReceipt
from domain.errors import Code, DocumentRefused
from domain.keys import source_key
from storage.protocol import Store

STORED = "store:"


class IngestSource:
    """Same bytes are stored once, whoever brings them."""

    def __init__(
        self, store: Store, documents: DocumentReader, *, max_bytes: int, max_pages: int
    ) -> None:
        self._store = store
        self._documents = documents
        self._max_bytes = max_bytes
        self._max_pages = max_pages

    @activity.defn
    async def ingest_source(self, request: DocumentRequest) -> SourceReceipt:
        with failures_for_temporal():
            async with heartbeats():
                sha256 = await self._fetch(request.source)
                path = await self._store.local_path(source_key(sha256))
                if path is None:
                    raise DocumentRefused(
                        Code.EXPIRED,
                        "SOURCE_GONE",
                        "The document is no longer in the store.",
                        "Submit it again.",
                    )
                pages = await self._documents.inspect(path)
                self._refuse_too_many(pages)
                return SourceReceipt(sha256=sha256, bytes=path.stat().st_size, page_count=pages)

    async def _fetch(self, source: str) -> str:
        if source.startswith(STORED):
            return source.removeprefix(STORED)
        path = Path(source)
        check_file(path, self._max_bytes)
        sha256 = await asyncio.to_thread(hash_file, path)
        await self._store.put_file(source_key(sha256), path)
        return sha256

    def _refuse_too_many(self, pages: int) -> None:
        if pages > self._max_pages:
            raise DocumentRefused(
                Code.TOO_LARGE,
                "PAGES",
                f"The document has {pages} pages; at most {self._max_pages} are allowed.",
                "Split it, or raise MAX_PAGES.",
            )


def check_file(path: Path, max_bytes: int) -> None:
    """Refuse what cannot be a document before anything is copied."""
    if not path.exists():
        raise DocumentRefused(
            Code.IO_ERROR, "NOT_FOUND", f"There is no file {path.name!r}.", "Check the path."
        )
    if not path.is_file():
        raise DocumentRefused(
            Code.IO_ERROR, "NOT_A_FILE", f"{path.name!r} is not a file.", "Name one PDF file."
        )
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(1024)
    except PermissionError:
        raise DocumentRefused(
            Code.IO_ERROR, "UNREADABLE", f"{path.name!r} may not be read.", "Check its permissions."
        ) from None
    if size == 0:
        raise DocumentRefused(
            Code.NOT_PDF, "EMPTY", f"{path.name!r} is empty.", "Check where the file came from."
        )
    if size > max_bytes:
        raise DocumentRefused(
            Code.TOO_LARGE,
            "BYTES",
            f"{path.name!r} has {size:,} bytes; at most {max_bytes:,} are allowed.",
            "Split it, or raise MAX_FILE_SIZE.",
        )
    # Real files carry junk before the header, and readers have always looked for it this far.
    if b"%PDF" not in head:
        raise DocumentRefused(
            Code.NOT_PDF, "NOT_PDF", f"{path.name!r} is not a PDF.", "Give a PDF file."
        )


def hash_file(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
