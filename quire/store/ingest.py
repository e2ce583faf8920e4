"""Brings a document into the store: fetches it, checks it, and keeps it under its hash."""

import tempfile
from pathlib import Path

from quire.contracts.document import DocumentRequest
from quire.contracts.steps import DocumentReceipt
from quire.contracts.stored import LIST_BEGINS, ImageList
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.origin import STORED, Fetched
from quire.domain.errors import DocumentRefused
from quire.ports import DocumentReader, SourceFetcher, Store
from quire.store.documents import Originals


class Ingest:
    """Stores the same bytes once, however many requests bring them."""

    def __init__(
        self, store: Store, documents: DocumentReader, sources: SourceFetcher, *, max_pages: int
    ) -> None:
        self._store = store
        self._documents = documents
        self._originals = Originals(store, documents)
        self._sources = sources
        self._max_pages = max_pages

    async def bring(
        self, request: DocumentRequest, password: str | None, *, last_try: bool = True
    ) -> DocumentReceipt:
        """The document, in the store; raises `DocumentRefused` where there is none.

        With the last try, an origin that fails is a terminal error.
        """
        receipt = await self._bring(request, password, last_try)
        if receipt.page_count > self._max_pages:
            raise errors.too_many_pages(found=receipt.page_count, allowed=self._max_pages)
        return receipt

    async def _bring(
        self, request: DocumentRequest, password: str | None, last_try: bool
    ) -> DocumentReceipt:
        if request.source.startswith(STORED):
            sha256 = request.source.removeprefix(STORED)
            path = await self._originals.path(sha256)
            if not _is_list(path):
                return await self._inspect(sha256, password)
            images = ImageList.model_validate_json(path.read_bytes()).quire_images
            return await self._originals.put_images(images)
        with tempfile.TemporaryDirectory(prefix="quire-") as folder:
            fetched = await self._fetch(request, Path(folder), last_try)
            await self._store.put_file(source_key(fetched.sha256), Path(fetched.path))
        if fetched.kind == "image":
            return await self._originals.put_images((fetched.sha256,))
        return await self._inspect(fetched.sha256, password)

    async def _fetch(self, request: DocumentRequest, folder: Path, last_try: bool) -> Fetched:
        try:
            return await self._sources.fetch(request.source, request.source_name, folder)
        except DocumentRefused as error:
            if not last_try:
                raise
            info = error.info.model_copy(update={"error_type": "terminal"})
            raise DocumentRefused.from_info(info) from None

    async def _inspect(self, sha256: str, password: str | None) -> DocumentReceipt:
        path = await self._originals.path(sha256)
        pages = await self._documents.inspect(path, password)
        return DocumentReceipt(sha256=sha256, bytes=path.stat().st_size, page_count=pages)


def _is_list(path: Path) -> bool:
    """Whether the file is a list of page images and not a PDF."""
    with path.open("rb") as file:
        return file.read(len(LIST_BEGINS)) == LIST_BEGINS
