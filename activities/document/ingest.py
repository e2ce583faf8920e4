"""ingest_source: fetch a document, check it, and put it into the store under its hash."""

import tempfile
from pathlib import Path

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.document import DocumentRequest
from quire.contracts.steps import DocumentReceipt
from quire.contracts.stored import LIST_BEGINS, ImageList
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.origin import STORED, Fetched
from quire.domain.errors import DocumentRefused
from quire.ports import DocumentReader, SourceFetcher, Store, Unsealer
from quire.store.documents import Originals

# A server that fails may be well a moment later; a person should not wait minutes for the news.
FETCH_ATTEMPTS = 3


class IngestSource:
    """Stores the same bytes once, however many jobs bring them."""

    def __init__(
        self,
        store: Store,
        documents: DocumentReader,
        sources: SourceFetcher,
        unseal: Unsealer,
        *,
        max_pages: int,
    ) -> None:
        self._store = store
        self._documents = documents
        self._originals = Originals(store, documents)
        self._sources = sources
        self._unseal = unseal
        self._max_pages = max_pages

    @activity.defn
    async def ingest_source(self, request: DocumentRequest) -> DocumentReceipt:
        """Bring the document into the store; refuse what cannot be one."""
        with failures_for_temporal():
            password = None
            if request.sealed_password is not None:
                password = self._unseal(request.sealed_password, request.job_id)
            async with heartbeats():
                return await self.ingest(request, password)

    async def ingest(self, request: DocumentRequest, password: str | None) -> DocumentReceipt:
        """The same without Temporal; raises `DocumentRefused` where there is no document."""
        receipt = await self._ingest(request, password)
        self._refuse_too_many(receipt.page_count)
        return receipt

    async def _ingest(self, request: DocumentRequest, password: str | None) -> DocumentReceipt:
        if request.source.startswith(STORED):
            sha256 = request.source.removeprefix(STORED)
            path = await self._originals.path(sha256)
            if not is_list(path):
                return await self._inspect(sha256, password)
            images = ImageList.model_validate_json(path.read_bytes()).quire_images
            return await self._originals.put_images(images)
        with tempfile.TemporaryDirectory(prefix="quire-") as folder:
            fetched = await self._fetch(request, Path(folder))
            await self._store.put_file(source_key(fetched.sha256), Path(fetched.path))
        if fetched.kind == "image":
            return await self._originals.put_images((fetched.sha256,))
        return await self._inspect(fetched.sha256, password)

    async def _fetch(self, request: DocumentRequest, folder: Path) -> Fetched:
        try:
            return await self._sources.fetch(request.source, request.source_name, folder)
        except DocumentRefused as error:
            if activity.in_activity() and activity.info().attempt < FETCH_ATTEMPTS:
                raise
            info = error.info.model_copy(update={"error_type": "terminal"})
            raise DocumentRefused.from_info(info) from None

    async def _inspect(self, sha256: str, password: str | None) -> DocumentReceipt:
        path = await self._originals.path(sha256)
        pages = await self._documents.inspect(path, password)
        return DocumentReceipt(sha256=sha256, bytes=path.stat().st_size, page_count=pages)

    def _refuse_too_many(self, pages: int) -> None:
        if pages > self._max_pages:
            raise errors.too_many_pages(found=pages, allowed=self._max_pages)


def is_list(path: Path) -> bool:
    """Whether the file is a list of page images and not a PDF."""
    with path.open("rb") as file:
        return file.read(len(LIST_BEGINS)) == LIST_BEGINS
