"""reuse_result: the stored result of the same bytes and options, as this job's own."""

from datetime import UTC, datetime
from functools import partial

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.page import PageRecord, TextSource
from quire.contracts.results import DocumentReport, DocumentResult
from quire.contracts.steps import ReuseReceipt, ReuseRequest
from quire.contracts.stored import StoredResult
from quire.domain.document.keys import finished_key, text_key
from quire.domain.document.stuck import HEALED_WARNING
from quire.domain.document.summary import free_of_charge
from quire.ports import ResultPlaces, Store
from quire.store.quarantine import damage_notes, seconds_of
from quire.store.results import write_result


class ReuseResult:
    """Writes a stored result again under a new job's id; no page is read or bought."""

    def __init__(self, store: Store, results: ResultPlaces) -> None:
        self._store = store
        self._results = results

    @activity.defn
    async def reuse_result(self, request: ReuseRequest) -> ReuseReceipt | None:
        """Write the stored result under this job's id; None when there is none."""
        with failures_for_temporal():
            async with heartbeats():
                stored = await self._stored(request)
                if stored is None:
                    return None
                text = await self._store.local_path(text_key(stored.text_sha256))
                if text is None:
                    return None
                since = seconds_of(request.started_at)
                notes = await damage_notes(self._store, request.sha256, since)
                report = await write_result(
                    self._results,
                    request.origin,
                    request.job_id,
                    text,
                    partial(_as_own, stored, request, notes),
                )
                return _receipt(report)

    async def _stored(self, request: ReuseRequest) -> StoredResult | None:
        found = await self._store.get(finished_key(request.sha256, request.finished))
        stored = None if found is None else StoredResult.model_validate_json(found)
        if stored is None or not request.without_ocr:
            return stored
        by_ocr = any(page.source is TextSource.OCR for page in stored.report.pages)
        return None if by_ocr else stored


def _as_own(
    stored: StoredResult,
    request: ReuseRequest,
    notes: tuple[str, ...],
    local_path: str | None,
    url: str | None,
) -> DocumentReport:
    report = free_of_charge(stored.report)
    healed = (HEALED_WARNING,) if request.healed else ()
    meta = {
        "result_local_path": local_path,
        "result_s3_url": url,
        "text_sha256": stored.text_sha256,
        "warnings": (*report.metadata.warnings, *notes, *healed),
        "healed": request.healed,
    }
    return report.model_copy(
        update={
            "job_id": request.job_id,
            "source": request.source,
            "user_id": request.user_id,
            "started_at": request.started_at,
            "completed_at": datetime.now(UTC).isoformat(),
            "cached": True,
            # A retry may have made the stored one; of this job it is the first.
            "version": 1,
            "changed_pages": (),
            "metadata": report.metadata.model_copy(update=meta),
        }
    )


def _receipt(report: DocumentReport) -> ReuseReceipt:
    return ReuseReceipt(
        result=DocumentResult(**report.model_dump(exclude={"pages"})),
        classes="".join(page.classification.letter for page in report.pages),
        records=tuple(PageRecord(page=page.page, source=page.source) for page in report.pages),
    )
