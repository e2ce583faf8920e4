"""The answers to the queries of a batch: pure functions of its state."""

from datetime import UTC, datetime
from typing import Literal

from quire.contracts.batch_status import BatchDetail, BatchDocument, BatchStatus
from quire.contracts.names import document_job_id
from quire.contracts.status import PageRange
from quire.domain.batch.letters import WORDS
from quire.domain.batch.progress import documents_a_second, seconds_left
from workflows.batch.state import BatchState

# An answer is a payload: of a long list, so many are given at once.
DOCUMENTS_AT_ONCE = 5000


def status(state: BatchState) -> BatchStatus:
    """The progress contract, with documents as items."""
    counts, request = state.counts, state.request
    a_second = documents_a_second(state.pace)
    left = None if state.paused else seconds_left(state.pace, counts.waiting + counts.running)
    return BatchStatus(
        job_id=request.batch_id,
        batch_id=request.batch_id,
        name=request.name,
        status=_word(state),
        progress=_percent(state),
        total_items=request.documents,
        completed_items=counts.with_text,
        failed_items=counts.ended - counts.with_text,
        current_item=min(state.open, default=None),
        last_completed_item=state.last_ended,
        progress_detail=BatchDetail(
            counts=counts,
            phase=state.phase,
            pages=state.pages,
            degraded_pages=state.degraded,
            pages_by_source=dict(sorted(state.by_source.items())),
            input_tokens=state.spent.input_tokens,
            output_tokens=state.spent.output_tokens,
            cost_usd=state.spent.dollars,
            max_cost_usd=state.max_cost_usd,
            window=request.window,
            paused=state.paused,
            cancelled=state.cancelled,
            eta_s=None if left is None else round(left, 1),
            documents_an_hour=None if a_second is None else round(a_second * 3600, 1),
            stopped_by=state.stopped_by if counts.waiting or counts.not_started else None,
            last_failures=state.last_failures,
        ),
        heartbeat_at=iso_time(state.pace[-1][0] if state.pace else state.started),
        started_at=iso_time(state.started),
        completed_at=None if state.completed_at is None else iso_time(state.completed_at),
    )


def documents(state: BatchState, wanted: PageRange) -> list[BatchDocument]:
    """Where the documents of a range stand."""
    first = min(wanted.first, state.request.documents + 1)
    last = min(wanted.last, state.request.documents, first + DOCUMENTS_AT_ONCE - 1)
    return [
        BatchDocument(
            number=number,
            job_id=state.named.get(number, document_job_id(state.request.batch_id, number)),
            state=WORDS[state.letters[number - 1]],
        )
        for number in range(first, last + 1)
    ]


def _word(state: BatchState) -> Literal["pending", "running", "completed", "failed"]:
    if state.completed_at is not None:
        return "completed"
    return "running" if state.plan else "pending"


def _percent(state: BatchState) -> float:
    """With one digit, rounded down; while the result is not written yet, not all is done."""
    if state.completed_at is not None:
        return 100.0
    return min(99.9, 1000 * state.counts.ended // state.request.documents / 10)


def iso_time(moment: float) -> str:
    """The moment as all of the project writes it."""
    return datetime.fromtimestamp(moment, UTC).isoformat()
