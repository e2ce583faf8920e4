"""The row of a document: from its result, from its error, or from the one that is the same."""

from collections.abc import Iterable
from datetime import datetime

from quire.contracts.batch import DocumentRow, RowStatus, SourceItem
from quire.contracts.batch_status import BatchFailure
from quire.contracts.batch_steps import DocumentEnd
from quire.contracts.codes import Code, ErrorInfo
from quire.contracts.money import NOTHING, Paid
from quire.contracts.names import document_job_id
from quire.contracts.results import DocumentResult
from quire.domain import errors
from quire.domain.batch.letters import WITHOUT_TEXT, letter_of

# A receipt is in history: a vendor's words may be long.
WORDS_KEPT = 200


def blank_row(batch_id: str, number: int, item: SourceItem, take: int) -> DocumentRow:
    """What is known of a document before anything happens to it."""
    return DocumentRow(
        number=number,
        source=item.shown,
        job_id=item.job_id or document_job_id(batch_id, number),
        status="not_started",
        value=item.value,
        due=item.due,
        take=take,
    )


def row_of_result(row: DocumentRow, result: DocumentResult) -> DocumentRow:
    """The row of a document that has its text."""
    meta = result.metadata
    status: RowStatus = "degraded" if meta.pages_failed else "done"
    return row.model_copy(
        update={
            "status": "cancelled" if meta.cancelled else status,
            "pages": meta.total_pages,
            "degraded_pages": meta.pages_failed,
            "pages_by_source": dict(meta.pages_by_source),
            "input_tokens": meta.input_tokens,
            "output_tokens": meta.output_tokens,
            "cost_usd": meta.cost_usd,
            "milliseconds": _milliseconds(result.started_at, result.completed_at),
            "text_path": meta.result_s3_url or meta.result_local_path,
            "sha256": result.sha256,
            "started_at": result.started_at,
            "completed_at": result.completed_at,
            "warnings": meta.warnings,
        }
    )


def row_of_error(
    row: DocumentRow, error: ErrorInfo, status: RowStatus = "failed", paid: Paid = NOTHING
) -> DocumentRow:
    """The row of a document without a text; pages may have been paid for all the same."""
    stopped = isinstance(errors.DocumentRefused.from_info(error), errors.CancelledRefusal)
    return row.model_copy(
        update={
            "status": "cancelled" if stopped else status,
            "code": error.code,
            "reason": error.reason,
            "message": error.message,
            "remedy": error.remedy,
            "cost_usd": paid.dollars,
            "input_tokens": paid.input_tokens,
        }
    )


def row_of_same(row: DocumentRow, other: DocumentRow, number: int) -> DocumentRow:
    """The row of a document whose text is that of an earlier one: it cost nothing."""
    nothing = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "milliseconds": 0}
    own = {name: getattr(row, name) for name in ("number", "source", "value", "due", "take")}
    return other.model_copy(update={**nothing, **own, "same_as": number})


def end_of(row: DocumentRow) -> DocumentEnd:
    """What the workflow is told of a row."""
    letter = letter_of(row.status)
    failure = None
    if letter in WITHOUT_TEXT:
        failure = BatchFailure(
            number=row.number,
            source=row.source[-WORDS_KEPT:],
            code=row.code or Code.UNKNOWN,
            reason=row.reason or "",
            message=(row.message or "")[:WORDS_KEPT],
        )
    return DocumentEnd(
        number=row.number,
        letter=letter,
        pages=row.pages,
        degraded=row.degraded_pages,
        by_source=tuple(sorted(row.pages_by_source.items())),
        paid=Paid.of(row.input_tokens, row.output_tokens, row.cost_usd),
        failure=failure,
    )


def json_lines(rows: Iterable[DocumentRow]) -> str:
    """The rows as JSON Lines: every field in every line, so that tools see one shape."""
    return "".join(row.model_dump_json() + "\n" for row in rows)


def latest_rows(rows: Iterable[DocumentRow]) -> list[DocumentRow]:
    """One row a document, in their order: that of its last retry, with the cost of all. A repeated
    activity writes a row again, which says the same."""
    takes: dict[int, dict[int, DocumentRow]] = {}
    for row in rows:
        takes.setdefault(row.number, {})[row.take] = row
    return [_with_all_costs(list(takes[number].values())) for number in sorted(takes)]


def _with_all_costs(takes: list[DocumentRow]) -> DocumentRow:
    latest = max(takes, key=lambda row: row.take)
    costs = [row.cost_usd for row in takes]
    return latest.model_copy(
        update={
            "input_tokens": sum(row.input_tokens for row in takes),
            "output_tokens": sum(row.output_tokens for row in takes),
            "cost_usd": None if None in costs else sum(cost or 0.0 for cost in costs),
        }
    )


def _milliseconds(started: str, completed: str) -> int:
    seconds = datetime.fromisoformat(completed) - datetime.fromisoformat(started)
    return max(0, round(seconds.total_seconds() * 1000))
