"""survey_document: every page's MuPDF text and classification, stored before any model is asked."""

import asyncio

from temporalio import activity

from activities.failures import failures_for_temporal
from activities.heartbeats import heartbeats
from activities.originals import Originals
from activities.ports import DocumentReader, Tracing, Unsealer
from activities.surveys import PAGES, load_chunk
from domain.contracts import PageSurvey, SurveyReceipt, SurveyRequest
from domain.keys import chunk_of, chunk_pages, survey_key
from storage.protocol import Store


class SurveyDocument:
    """Chunks that are already stored are not surveyed again: after a crash it goes on there."""

    def __init__(
        self,
        store: Store,
        documents: DocumentReader,
        unseal: Unsealer,
        tracing: Tracing,
        *,
        parallel: int,
    ) -> None:
        self._store = store
        self._originals = Originals(store, documents)
        self._unseal = unseal
        self._tracing = tracing
        self._parallel = parallel

    @activity.defn
    async def survey_document(self, request: SurveyRequest) -> SurveyReceipt:
        with failures_for_temporal():
            password = None
            if request.sealed_password is not None:
                password = self._unseal(request.sealed_password, request.job_id)
            chunks = range(chunk_of(request.page_count) + 1)
            free = asyncio.Semaphore(self._parallel)
            try:
                async with heartbeats(), asyncio.TaskGroup() as group:
                    tasks = [
                        group.create_task(self._chunk(free, request, chunk, password))
                        for chunk in chunks
                    ]
            except ExceptionGroup as several:
                raise several.exceptions[0] from None
            return SurveyReceipt(classes="".join(task.result() for task in tasks))

    async def _chunk(
        self, free: asyncio.Semaphore, request: SurveyRequest, chunk: int, password: str | None
    ) -> str:
        async with free:
            pages = await load_chunk(self._store, request.sha256, chunk)
            if pages is None:
                first, last = chunk_pages(chunk, request.page_count)
                with self._tracing.step("survey", first):
                    pages = await self._originals.survey(request, first, last, password)
                key = survey_key(request.sha256, chunk)
                with self._tracing.step("store", first):
                    await self._store.put(key, PAGES.dump_json(pages), replace=False)
                activity.heartbeat(last)
            return _letters(pages)


def _letters(pages: list[PageSurvey]) -> str:
    return "".join(page.classification.letter for page in pages)
