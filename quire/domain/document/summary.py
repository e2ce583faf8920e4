"""The message and the counts of a finished document."""

from collections import Counter
from collections.abc import Sequence

from quire.contracts.page import PageRecord, TextSource, Usage
from quire.contracts.results import DocumentReport, DocumentResult, PageResult, ResultMetadata
from quire.contracts.steps import FinalizeRequest
from quire.contracts.stored import StoredAnswer
from quire.domain.counts import counted
from quire.domain.document.degraded import degraded_words
from quire.domain.document.stuck import HEALED_WARNING
from quire.domain.page_ranges import format_pages


def summarize(
    request: FinalizeRequest,
    pages: Sequence[PageResult],
    *,
    text_length: int,
    text_sha256: str = "",
    local_path: str | None,
    s3_url: str | None,
) -> DocumentResult:
    """Counts come from the pages themselves: there is no second truth to disagree with."""
    sources = Counter(page.source for page in pages)
    degraded = sum(count for source, count in sources.items() if source.degraded)
    costs = [page.cost_usd for page in pages]
    doubtful = [page.page for page in pages if page.doubtful]
    return DocumentResult(
        job_id=request.job_id,
        message=_message(request, degraded, pages) + _doubt_words(len(doubtful)),
        source=request.source,
        sha256=request.sha256,
        page_count=request.page_count,
        kind=request.kind,
        user_id=request.user_id,
        started_at=request.started_at,
        completed_at=request.completed_at,
        version=request.version,
        changed_pages=request.changed_pages,
        metadata=ResultMetadata(
            total_pages=len(pages),
            ai_pages=request.vision_pages,
            text_only_pages=len(pages) - request.vision_pages,
            pages_done=len(pages) - degraded,
            pages_failed=degraded,
            ai_pages_succeeded=sources[TextSource.AI],
            ocr_pages=sources[TextSource.OCR],
            mupdf_fallback_count=degraded - sources[TextSource.OCR_FALLBACK],
            ocr_fallback_count=sources[TextSource.OCR_FALLBACK],
            timeout_occurred=request.timeout_occurred,
            cancelled=request.cancelled,
            missing_pages=sources[TextSource.MUPDF_TIMEOUT_FALLBACK],
            result_text_len=text_length,
            text_sha256=text_sha256,
            result_local_path=local_path,
            result_s3_url=s3_url,
            input_tokens=sum(page.usage.input_tokens for page in pages),
            output_tokens=sum(page.usage.output_tokens for page in pages),
            # A sum with an unknown price in it would be a lie.
            cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
            warnings=request.warnings,
            healed=request.healed,
            doubtful_pages=len(doubtful),
            doubtful=format_pages(doubtful),
            confidence=_mean_confidence(pages),
        ),
    )


def _mean_confidence(pages: Sequence[PageResult]) -> float | None:
    """By the pages' lengths: a line on a page of its own says little of a document."""
    known = [(page.confidence, page.chars) for page in pages if page.confidence is not None]
    letters = sum(chars for _, chars in known)
    if not letters:
        return None
    return round(sum(confidence * chars for confidence, chars in known) / letters, 3)


def price_page(record: PageRecord, answer: StoredAnswer | None) -> tuple[Usage, float | None]:
    """What this run paid for a page: for its answer unless another run bought it, and for
    answers that did not count."""
    wasted = record.wasted
    bought = answer if answer is not None and not record.reused else None
    usage = bought.usage if bought else Usage()
    costs = (bought.cost_usd if bought else 0.0, wasted.dollars)
    return (
        Usage(
            input_tokens=usage.input_tokens + wasted.input_tokens,
            output_tokens=usage.output_tokens + wasted.output_tokens,
        ),
        None if None in costs else sum(cost or 0.0 for cost in costs),
    )


def free_of_charge(report: DocumentReport) -> DocumentReport:
    """The same result for a run that found it whole, and paid nothing."""
    nothing = {"usage": Usage(), "cost_usd": 0.0}
    pages = tuple(
        page.model_copy(update={**nothing, "reused": page.answer is not None})
        for page in report.pages
    )
    # What happened to the run that paid does not concern this one.
    kept = tuple(w for w in report.metadata.warnings if w != HEALED_WARNING)
    meta = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "healed": 0, "warnings": kept}
    return report.model_copy(
        update={"pages": pages, "metadata": report.metadata.model_copy(update=meta)}
    )


def _message(request: FinalizeRequest, degraded: int, pages: Sequence[PageResult]) -> str:
    some = f"{degraded:,} of {counted(len(pages), 'page')}"
    said = "Completed"
    if request.cancelled:
        said = f"Cancelled; partial result: {some} not read by a model"
    elif request.timeout_occurred:
        said = f"Completed with partial AI results (timeout): {some} degraded"
    elif degraded:
        said = f"Completed; {some} degraded"
    return f"{said} {degraded_words(pages, request.job_id, request.user_id)}".rstrip()


def _doubt_words(doubtful: int) -> str:
    return f"; {counted(doubtful, 'page')} doubtful" if doubtful else ""
