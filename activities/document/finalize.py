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
from quire.contracts.page import Classification, PageError, PageRecord, TextSource
from quire.contracts.results import DocumentReport, DocumentResult, PageResult
from quire.contracts.steps import FinalizeRequest, SurveyRequest
from quire.contracts.stored import PageSurvey, StoredAnswer, StoredResult
from quire.domain import errors
from quire.domain.document.attempts import expand_attempts
from quire.domain.document.keys import (
    answer_key,
    chunk_of,
    chunk_pages,
    finished_key,
    hyphens_of,
    survey_key,
    text_key,
)
from quire.domain.document.merge import merge_pages
from quire.domain.document.summary import price_page, summarize
from quire.domain.errors import QuireError
from quire.ports import DocumentReader, ResultPlaces, Store, Unsealer
from quire.store.documents import Originals
from quire.store.quarantine import damage_notes, seconds_of
from quire.store.results import write_result
from quire.store.surveys import PAGES, load_chunk


class FinalizeDocument:
    """Derives the result from records and store alone, so that it can be made again any time.

    A survey that is gone from the store is made again; an answer that is gone degrades its page.
    """

    def __init__(
        self, store: Store, results: ResultPlaces, documents: DocumentReader, unseal: Unsealer
    ) -> None:
        self._store = store
        self._results = results
        self._originals = Originals(store, documents)
        self._unseal = unseal

    @activity.defn
    async def finalize_document(self, request: FinalizeRequest) -> DocumentResult:
        """Write `text.txt` and `result.json` of all pages; return the summary."""
        with failures_for_temporal():
            async with heartbeats():
                return await self._finalize(request)

    async def _finalize(self, request: FinalizeRequest) -> DocumentResult:
        pages: list[PageResult] = []
        length, digest = 0, hashlib.sha256()
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "text.txt"
            with text.open("w", encoding="utf-8", newline="") as out:
                async for page, words in self._pages(request):
                    pages.append(page)
                    for piece in merge_pages([(page.page, words)], first=len(pages) == 1):
                        length += len(piece)
                        digest.update(piece.encode())
                        out.write(piece)
            sha256 = digest.hexdigest()
            noted = await self._with_damage(request)

            def report(local_path: str | None, url: str | None) -> DocumentReport:
                summary = summarize(
                    noted,
                    pages,
                    text_length=length,
                    text_sha256=sha256,
                    local_path=local_path,
                    s3_url=url,
                )
                return DocumentReport(**summary.model_dump(), pages=tuple(pages))

            written = await write_result(
                self._results, request.origin, request.job_id, text, report, request.version
            )
            await self._keep(request, written, text, sha256)
        return DocumentResult(**written.model_dump(exclude={"pages"}))

    async def _with_damage(self, request: FinalizeRequest) -> FinalizeRequest:
        """The request, with a warning if objects of the document were damaged meanwhile."""
        notes = await damage_notes(self._store, request.sha256, seconds_of(request.started_at))
        return request.model_copy(update={"warnings": (*request.warnings, *notes)})

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
            ended = list(group)
            surveys = await self._surveys(request, chunk, ended)
            for page in await asyncio.gather(
                *(self._page(request, record, surveys.get(record.page)) for record in ended)
            ):
                yield page

    async def _surveys(
        self, request: FinalizeRequest, chunk: int, records: list[PageRecord]
    ) -> dict[int, PageSurvey]:
        """The surveys of a chunk's pages; made again where they should be in the store."""
        found = await load_chunk(self._store, request.sha256, chunk)
        if found is None and any(_was_surveyed(request, record) for record in records):
            found = await self._survey_again(request, chunk)
        return {survey.page: survey for survey in found or []}

    async def _survey_again(self, request: FinalizeRequest, chunk: int) -> list[PageSurvey] | None:
        """The chunk's surveys from the document; None where that is gone, too."""
        asked = SurveyRequest(
            job_id=request.job_id,
            sha256=request.sha256,
            page_count=request.page_count,
            kind=request.kind,
        )
        try:
            password = None
            if request.sealed_password is not None:
                password = self._unseal(request.sealed_password, request.job_id)
            first, last = chunk_pages(chunk, request.page_count)
            pages = await self._originals.survey(asked, first, last, password, patient=False)
        except QuireError as error:
            activity.logger.warning("survey_lost", extra={"reason": error.reason, "chunk": chunk})
            return None
        await self._store.put(survey_key(request.sha256, chunk), PAGES.dump_json(pages))
        return pages

    async def _page(
        self, request: FinalizeRequest, record: PageRecord, survey: PageSurvey | None
    ) -> tuple[PageResult, str]:
        key = _answer_key(request, record)
        answer = await self._answer(key)
        lost = _what_is_lost(request, record, survey, key, answer)
        survey = survey or _without_survey(record, _was_surveyed(request, record))
        text = answer.text if answer else survey.text_with(hyphens_of(request.reading))
        usage, cost_usd = price_page(record, answer)
        result = PageResult(
            page=record.page,
            classification=survey.classification,
            reason=survey.reason,
            source=_without_answer(record.source) if lost else record.source,
            provider=answer.provider if answer else None,
            model=answer.model if answer else None,
            attempts=expand_attempts(record.attempts, request.routes),
            chars=len(text),
            error=lost or record.error,
            answer=key if answer else None,
            take=record.take,
            usage=usage,
            # What was paid for an answer that is gone is not known here.
            cost_usd=None if key and answer is None and not record.reused else cost_usd,
            reused=record.reused and answer is not None,
        )
        return result, text

    async def _answer(self, key: str | None) -> StoredAnswer | None:
        data = None if key is None else await self._store.get(key)
        return None if data is None else StoredAnswer.model_validate_json(data)


def _was_surveyed(request: FinalizeRequest, record: PageRecord) -> bool:
    return record.page <= request.surveyed or record.source is TextSource.MUPDF


def _what_is_lost(
    request: FinalizeRequest,
    record: PageRecord,
    survey: PageSurvey | None,
    key: str | None,
    answer: StoredAnswer | None,
) -> PageError | None:
    """Why a page that had a text has not its own: an empty page would pass for the truth, here and
    in every later job on these bytes."""
    if answer is not None:
        return None
    if key is not None:
        return errors.page_answer_lost()
    if survey is None and _was_surveyed(request, record):
        return record.error or errors.page_text_lost()
    return None


def _without_answer(source: TextSource) -> TextSource:
    late = source is TextSource.MUPDF_TIMEOUT_FALLBACK
    return source if late else TextSource.MUPDF_FALLBACK


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
