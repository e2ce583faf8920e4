"""finalize_document: merge the pages in order into `text.txt` and `result.json`."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.page import Classification, PageRecord, TextSource
from quire.contracts.results import DocumentReport, DocumentResult, PageResult
from quire.contracts.steps import FinalizeRequest
from quire.contracts.stored import PageSurvey, StoredAnswer, StoredResult
from quire.domain import errors
from quire.domain.document.attempts import expand_attempts
from quire.domain.document.keys import answer_key, chunk_of, finished_key, text_key
from quire.domain.document.merge import merge_pages
from quire.domain.document.summary import price_page, summarize
from quire.ports import ResultPlaces, Store
from quire.store.results import write_result
from quire.store.surveys import load_chunk


class FinalizeDocument:
    """Derives the result from records and store alone, so that it can be made again any time."""

    def __init__(self, store: Store, results: ResultPlaces) -> None:
        self._store = store
        self._results = results

    @activity.defn
    async def finalize_document(self, request: FinalizeRequest) -> DocumentResult:
        """Write `text.txt` and `result.json` of all pages; return the summary."""
        with failures_for_temporal():
            async with heartbeats():
                return await self._finalize(request)

    async def _finalize(self, request: FinalizeRequest) -> DocumentResult:
        pages: list[PageResult] = []
        length, digest = 0, hashlib.sha256()

        def report(local_path: str | None, url: str | None) -> DocumentReport:
            summary = summarize(
                request, pages, text_length=length, local_path=local_path, s3_url=url
            )
            return DocumentReport(**summary.model_dump(), pages=tuple(pages))

        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "text.txt"
            with text.open("w", encoding="utf-8", newline="") as out:
                async for page, words in self._pages(request):
                    pages.append(page)
                    for piece in merge_pages([(page.page, words)], first=len(pages) == 1):
                        length += len(piece)
                        digest.update(piece.encode())
                        out.write(piece)
            written = await write_result(
                self._results, request.origin, request.job_id, text, report, request.version
            )
            await self._keep(request, written, text, digest.hexdigest())
        return DocumentResult(**written.model_dump(exclude={"pages"}))

    async def _keep(
        self, request: FinalizeRequest, report: DocumentReport, text: Path, sha256: str
    ) -> None:
        """Keep the result for the next job with the same bytes. A degraded one is not kept: the
        next job tries its failed pages again, and reads the good ones from the store."""
        if not request.finished or report.metadata.pages_failed:
            return
        await self._store.put_file(text_key(sha256), text)
        # Warnings about where this job's files went do not concern the next job.
        meta = report.metadata.model_copy(update={"warnings": request.warnings})
        kept = report.model_copy(update={"metadata": meta})
        stored = StoredResult(report=kept, text_sha256=sha256)
        key = finished_key(request.sha256, request.finished)
        await self._store.put(key, stored.model_dump_json().encode())

    async def _pages(self, request: FinalizeRequest) -> AsyncIterator[tuple[PageResult, str]]:
        """Page after page; the answers of one chunk are fetched beside each other."""
        records = sorted(request.records, key=lambda record: record.page)
        for chunk, group in groupby(records, key=lambda record: chunk_of(record.page)):
            found = await load_chunk(self._store, request.sha256, chunk) or []
            surveys = {survey.page: survey for survey in found}
            for page in await asyncio.gather(
                *(self._page(request, record, surveys.get(record.page)) for record in group)
            ):
                yield page

    async def _page(
        self, request: FinalizeRequest, record: PageRecord, survey: PageSurvey | None
    ) -> tuple[PageResult, str]:
        key = _answer_key(request, record)
        answer = await self._answer(key)
        if survey is None:
            was = record.page <= request.surveyed or record.source is TextSource.MUPDF
            if was and answer is None:
                # As when workers of two versions keep surveys under different names. An empty
                # page would pass for the truth, here and in every later job on these bytes.
                raise errors.survey_missing()
            survey = _without_survey(record, was)
        text = answer.text if answer else survey.text
        usage, cost_usd = price_page(record, answer)
        result = PageResult(
            page=record.page,
            classification=survey.classification,
            reason=survey.reason,
            source=record.source,
            provider=answer.provider if answer else None,
            model=answer.model if answer else None,
            attempts=expand_attempts(record.attempts, request.routes),
            chars=len(text),
            error=record.error,
            answer=key,
            take=record.take,
            usage=usage,
            cost_usd=cost_usd,
            reused=record.reused,
        )
        return result, text

    async def _answer(self, key: str | None) -> StoredAnswer | None:
        if key is None:
            return None
        data = await self._store.get(key)
        if data is None:
            raise errors.answer_missing()
        return StoredAnswer.model_validate_json(data)


def _without_survey(record: PageRecord, was_surveyed: bool) -> PageSurvey:
    why = "this page was not surveyed"
    if was_surveyed:
        why = "the survey of this page is no longer in the store"
    elif record.source is TextSource.MUPDF_TIMEOUT_FALLBACK:
        why = "the deadline passed before this page was surveyed"
    return PageSurvey(page=record.page, classification=Classification.SCANNED, reason=why)


def _answer_key(request: FinalizeRequest, record: PageRecord) -> str | None:
    if record.answer is not None or record.read_by is None:
        return record.answer
    provider, _, model = request.routes[record.read_by].partition(":")
    return answer_key(request.sha256, record.page, request.reading, provider, model, record.take)
