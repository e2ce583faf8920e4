"""The sums of a batch, from its rows: there is no second truth to disagree with."""

from collections import Counter
from collections.abc import Sequence

from quire.contracts.batch import BatchCounts, BatchResult, DocumentRow
from quire.contracts.batch_steps import LoadReceipt, WriteRequest
from quire.contracts.money import Paid
from quire.domain.batch.letters import WAITING, counts, letter_of, replaced
from quire.domain.cost import Spending
from quire.domain.counts import counted


def paid_for(rows: Sequence[DocumentRow]) -> Spending:
    """What the documents cost together."""
    spent = Spending()
    spent.add(*(Paid.of(row.input_tokens, row.output_tokens, row.cost_usd) for row in rows))
    return spent


def pages_by_source(rows: Sequence[DocumentRow]) -> dict[str, int]:
    """Pages of all documents by where their text came from."""
    found = Counter[str]()
    for row in rows:
        found.update(row.pages_by_source)
    return dict(sorted(found.items()))


def letters_of(rows: Sequence[DocumentRow], documents: int) -> str:
    """One letter a document; those without a row wait."""
    ended = {row.number: letter_of(row.status) for row in rows if row.number <= documents}
    return replaced(WAITING * documents, ended)


def loaded(rows: Sequence[DocumentRow], documents: int) -> LoadReceipt:
    """What the store has of a batch, for its workflow."""
    spent = paid_for(rows)
    priced = None if spent.unpriced else spent.microdollars
    return LoadReceipt(
        letters=letters_of(rows, documents),
        pages=sum(row.pages for row in rows),
        degraded=sum(row.degraded_pages for row in rows),
        by_source=pages_by_source(rows),
        paid=Paid(spent.input_tokens, spent.output_tokens, priced),
        take=max((row.take for row in rows), default=0),
    )


def summarize(
    asked: WriteRequest, rows: Sequence[DocumentRow], *, completed: bool = True
) -> BatchResult:
    """The result of a batch, or of what there is of it so far."""
    request, spent = asked.request, paid_for(rows)
    found = counts(letters_of(rows, request.documents))
    return BatchResult(
        batch_id=request.batch_id,
        status="completed" if completed else "running",
        message=message(found, cancelled=asked.cancelled),
        name=request.name,
        user_id=request.user_id,
        documents=request.documents,
        counts=found,
        pages=sum(row.pages for row in rows),
        pages_by_source=pages_by_source(rows),
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=spent.dollars,
        started_at=asked.started_at,
        completed_at=asked.completed_at if completed else None,
        cancelled=asked.cancelled,
        stopped_by=asked.stopped_by,
    )


def message(found: BatchCounts, *, cancelled: bool = False) -> str:
    """The batch in one line for people."""
    total = found.ended + found.waiting + found.running
    parts = [f"{found.with_text:,} of {counted(total, 'document')} read"]
    parts += [
        f"{number:,} {words}"
        for number, words in (
            (found.degraded, "of them with degraded pages"),
            (found.failed, "failed"),
            (found.cancelled, "cancelled"),
            (found.not_started, "not started"),
            (found.running, "under way"),
            (found.waiting, "waiting"),
        )
        if number
    ]
    return ("Cancelled: " if cancelled else "") + ", ".join(parts)
