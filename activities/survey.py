"""survey_document: every page's MuPDF text and classification, stored before any model is asked."""

import asyncio
import math
from dataclasses import dataclass

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
            last = request.last or request.page_count
            chunks = range(chunk_of(request.first), chunk_of(last) + 1)
            surveying = _Surveying(
                request=request,
                password=password,
                free=asyncio.Semaphore(self._parallel),
                # A lone chunk is a person's first pages: every core helps with it.
                parts=max(1, self._parallel // len(chunks)),
            )
            try:
                async with heartbeats(), asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self._chunk(surveying, chunk)) for chunk in chunks]
            except ExceptionGroup as several:
                raise several.exceptions[0] from None
            return SurveyReceipt(classes="".join(task.result() for task in tasks))

    async def _chunk(self, surveying: "_Surveying", chunk: int) -> str:
        request = surveying.request
        pages = await load_chunk(self._store, request.sha256, chunk)
        if pages is None:
            first, last = chunk_pages(chunk, request.page_count)
            size = math.ceil((last - first + 1) / surveying.parts)
            pieces = await asyncio.gather(
                *(
                    self._pages(surveying, start, min(last, start + size - 1))
                    for start in range(first, last + 1, size)
                )
            )
            pages = [page for piece in pieces for page in piece]
            with self._tracing.step("store", first):
                key = survey_key(request.sha256, chunk)
                await self._store.put(key, PAGES.dump_json(pages), replace=False)
            activity.heartbeat(last)
        return "".join(page.classification.letter for page in pages)

    async def _pages(self, surveying: "_Surveying", first: int, last: int) -> list[PageSurvey]:
        async with surveying.free:
            with self._tracing.step("survey", first):
                return await self._originals.survey(
                    surveying.request, first, last, surveying.password
                )


@dataclass(frozen=True)
class _Surveying:
    """One survey under way."""

    request: SurveyRequest
    password: str | None
    free: asyncio.Semaphore
    parts: int
