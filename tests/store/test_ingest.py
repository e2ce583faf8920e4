"""Bringing a document into the store: what is kept, and what is refused for good."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.contracts.codes import Code
from quire.contracts.document import DocumentRequest
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.origin import Fetched
from quire.domain.errors import DocumentRefused
from quire.pdf.reader import Documents
from quire.sources.fetch import OriginFetcher
from quire.store.folder import FolderStore
from quire.store.ingest import Ingest
from testing import pdfs


class SlowOrigin:
    """An origin whose server does not answer in time."""

    async def fetch(self, source: str, name: str, folder: Path) -> Fetched:
        raise errors.server_too_slow()


@pytest.fixture
def documents() -> Iterator[Documents]:
    reader = Documents(processes=1)
    yield reader
    reader.close()


def ask(source: Path) -> DocumentRequest:
    return DocumentRequest(job_id="job", source=str(source), source_name=source.name)


async def test_a_document_is_kept_under_its_hash(documents: Documents, tmp_path: Path) -> None:
    path, store = pdfs.text_pdf(tmp_path / "a.pdf", pages=3), FolderStore(tmp_path / "store")
    origins = OriginFetcher(max_bytes=10**7, time_limit_s=10, allow_private=False)
    receipt = await Ingest(store, documents, origins, max_pages=3).bring(ask(path), None)
    assert (receipt.page_count, receipt.bytes) == (3, path.stat().st_size)
    assert await store.get(source_key(receipt.sha256)) == path.read_bytes()
    with pytest.raises(DocumentRefused) as refused:
        await Ingest(store, documents, origins, max_pages=2).bring(ask(path), None)
    assert refused.value.info.code is Code.TOO_LARGE


@pytest.mark.parametrize(("last_try", "expected"), [(False, "retryable"), (True, "terminal")])
async def test_an_origin_that_fails_is_tried_again_until_the_last_try(
    documents: Documents, tmp_path: Path, last_try: bool, expected: str
) -> None:
    ingest = Ingest(FolderStore(tmp_path), documents, SlowOrigin(), max_pages=1)
    with pytest.raises(DocumentRefused) as refused:
        await ingest.bring(ask(Path("a.pdf")), None, last_try=last_try)
    assert refused.value.info.error_type == expected
