"""survey_document: every page's MuPDF text and classification, stored before any model is asked."""

import asyncio
from pathlib import Path

from temporalio import activity

from activities.failures import failures_for_temporal
from activities.heartbeats import heartbeats
from activities.ports import DocumentReader
from activities.surveys import PAGES, load_chunk
from domain.contracts import PageSurvey, SurveyReceipt, SurveyRequest
from domain.errors import Code, DocumentRefused
from domain.keys import chunk_of, chunk_pages, source_key, survey_key
from storage.protocol import Store


class SurveyDocument:
    """Chunks that are already stored are not surveyed again: after a crash it goes on there."""

    def __init__(self, store: Store, documents: DocumentReader, *, parallel: int) -> None:
        self._store = store
        self._documents = documents
        self._parallel = parallel

    @activity.defn
    async def survey_document(self, request: SurveyRequest) -> SurveyReceipt:
        with failures_for_temporal():
            path = await self._store.local_path(source_key(request.sha256))
            if path is None:
                raise DocumentRefused(
                    Code.EXPIRED,
                    "SOURCE_GONE",
                    "The document is no longer in the store.",
                    "Submit it again.",
                )
            chunks = range(chunk_of(request.page_count) + 1)
            free = asyncio.Semaphore(self._parallel)
            async with heartbeats(), asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._chunk(free, request, path, chunk)) for chunk in chunks
                ]
            return SurveyReceipt(classes="".join(task.result() for task in tasks))

    async def _chunk(
        self, free: asyncio.Semaphore, request: SurveyRequest, path: Path, chunk: int
    ) -> str:
        async with free:
            pages = await load_chunk(self._store, request.sha256, chunk)
            if pages is None:
                first, last = chunk_pages(chunk, request.page_count)
                pages = await self._documents.survey(path, first, last)
                await self._store.put(survey_key(request.sha256, chunk), PAGES.dump_json(pages))
                activity.heartbeat(last)
            return _letters(pages)


def _letters(pages: list[PageSurvey]) -> str:
    return "".join(page.classification.letter for page in pages)
