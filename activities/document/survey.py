"""survey_document: every page's MuPDF text and classification, stored before any model is asked."""

import asyncio
import math
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.steps import SurveyReceipt, SurveyRequest
from quire.contracts.stored import PageSurvey
from quire.domain.document.keys import chunk_of, chunk_pages, survey_key
from quire.ports import DocumentReader, Store, Tracing, Unsealer
from quire.store.documents import Originals
from quire.store.surveys import PAGES, load_chunk

T = TypeVar("T")


class SurveyDocument:
    """Surveys the chunks that are not stored yet; after a crash it continues with the next one."""

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
        """Survey the pages from `first` to `last`; return their classes."""
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
                # A single chunk is a document's first pages: every core works on it.
                parts=max(1, self._parallel // len(chunks)),
            )
            async with heartbeats():
                letters = await _together(self._chunk(surveying, chunk) for chunk in chunks)
            # Chunks are surveyed whole, whichever of their pages were asked for.
            begin, _ = chunk_pages(chunks[0], request.page_count)
            asked = "".join(letters)[request.first - begin : last + 1 - begin]
            return SurveyReceipt(classes=asked)

    async def _chunk(self, surveying: "_Surveying", chunk: int) -> str:
        request = surveying.request
        pages = await load_chunk(self._store, request.sha256, chunk)
        if pages is None:
            first, last = chunk_pages(chunk, request.page_count)
            size = math.ceil((last - first + 1) / surveying.parts)
            pieces = await _together(
                self._pages(surveying, start, min(last, start + size - 1), patient=chunk > 0)
                for start in range(first, last + 1, size)
            )
            pages = [page for piece in pieces for page in piece]
            with self._tracing.step("store", first):
                key = survey_key(request.sha256, chunk)
                await self._store.put(key, PAGES.dump_json(pages), replace=False)
            activity.heartbeat(last)
        return "".join(page.classification.letter for page in pages)

    async def _pages(
        self, surveying: "_Surveying", first: int, last: int, *, patient: bool
    ) -> list[PageSurvey]:
        """A document's first pages are surveyed with the priority of drawing, because its slots
        are idle until then. All other surveys yield to pages that are being drawn."""
        async with surveying.free:
            with self._tracing.step("survey", first):
                return await self._originals.survey(
                    surveying.request, first, last, surveying.password, patient=patient
                )


async def _together(steps: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all steps at once. When one fails, the others are cancelled, because they would keep
    child processes busy for nothing. The first failure is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(step) for step in steps]
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


@dataclass(frozen=True)
class _Surveying:
    """One survey under way."""

    request: SurveyRequest
    password: str | None
    free: asyncio.Semaphore
    parts: int
