"""The stored bytes of a document: a PDF, or a manifest of page images."""

import hashlib
from pathlib import Path

from quire.contracts.steps import DocumentReceipt, SurveyRequest
from quire.contracts.stored import Brief, ImageManifest, ImagePage, PageSurvey
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.transcription import PageImage
from quire.domain.errors import DocumentRefused
from quire.ports import DocumentReader, Store


class Originals:
    """The original documents in the store; surveys and draws their pages one at a time."""

    def __init__(self, store: Store, documents: DocumentReader) -> None:
        self._store = store
        self._documents = documents

    async def path(self, sha256: str) -> Path:
        """The file of a document; refused when it is no longer in the store."""
        path = await self._store.local_path(source_key(sha256))
        if path is None:
            raise errors.document_gone()
        return path

    async def _open(self, sha256: str) -> Path:
        path = await self._store.local_path(source_key(sha256))
        if path is None:
            raise errors.source_missing()
        return path

    async def put_images(self, files: tuple[str, ...]) -> DocumentReceipt:
        """Store the manifest of a document of image files, which are in the store.

        A file that cannot be opened becomes one page that will fail; the document is refused only
        when none can be opened.
        """
        pages: list[ImagePage] = []
        opened = size = 0
        for sha256 in files:
            path = await self.path(sha256)
            frames = await self._documents.count_frames(path)
            opened += frames
            size += path.stat().st_size
            pages += [ImagePage(sha256, frame) for frame in range(max(1, frames))]
        if opened == 0:
            raise errors.no_image_opens()
        data = ImageManifest(quire_pages=tuple(pages)).model_dump_json().encode()
        sha256 = hashlib.sha256(data).hexdigest()
        await self._store.put(source_key(sha256), data)
        return DocumentReceipt(sha256=sha256, bytes=size, page_count=len(pages), kind="images")

    async def survey(
        self,
        request: SurveyRequest,
        first: int,
        last: int,
        password: str | None,
        *,
        patient: bool,
    ) -> list[PageSurvey]:
        """Survey the pages from `first` to `last`, both included."""
        path = await self.path(request.sha256)
        if request.kind == "pdf":
            return await self._documents.survey(path, first, last, password, patient=patient)
        pages = _manifest(path).quire_pages
        return [
            await self._documents.survey_image(
                await self.path(pages[number - 1].sha256), pages[number - 1].frame, number
            )
            for number in range(first, last + 1)
        ]

    async def draw(
        self, brief: Brief, number: int, password: str | None, scale: float, turn: int
    ) -> PageImage:
        """Draw a page for a model; `AttemptFailed` when it cannot be drawn, `StoredObjectGone` when
        the document is not there."""
        options = brief.reading.image
        path = await self._open(brief.sha256)
        try:
            if brief.kind == "pdf":
                return await self._documents.render(
                    path, number, options, password, scale=scale, turn=turn
                )
            page = _manifest(path).quire_pages[number - 1]
            return await self._documents.render_image(
                await self._open(page.sha256), page.frame, number, options, scale=scale, turn=turn
            )
        except DocumentRefused as error:
            # Only this page fails: the document may have other pages that can be drawn.
            raise errors.document_not_drawn(error) from None


def _manifest(path: Path) -> ImageManifest:
    return ImageManifest.model_validate_json(path.read_bytes())
