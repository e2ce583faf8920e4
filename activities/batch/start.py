"""start_documents: start a group of a batch's documents, in their order."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.batch import DocumentRow, SourceItem
from quire.contracts.batch_steps import DocumentEnd, OpenDocument, StartReceipt, StartRequest
from quire.contracts.names import document_job_id
from quire.domain.batch.keys import rows_key
from quire.domain.batch.rows import (
    blank_row,
    end_of,
    row_of_error,
    row_of_result,
    row_of_same,
)
from quire.domain.batch.sources import request_for
from quire.domain.errors import DocumentRefused
from quire.ports import BatchDocuments, ResultPlaces
from quire.store.batches import BatchStore
from quire.store.results import read_report


class StartDocuments:
    """What was refused gets its row at once; what is the same as an earlier one waits for that."""

    def __init__(
        self, batches: BatchStore, documents: BatchDocuments, results: ResultPlaces
    ) -> None:
        self._batches = batches
        self._documents = documents
        self._results = results

    @activity.defn
    async def start_documents(self, request: StartRequest) -> StartReceipt:
        """Start what can be started; repeated, it finds what it had started."""
        with failures_for_temporal():
            async with heartbeats():
                group = _Group(request)
                for number, take in request.wanted:
                    await self._one(group, number, take)
                run = activity.info().workflow_run_id or ""
                key = rows_key(request.batch_id, run, "start", request.group)
                await self._batches.write_rows(key, group.rows)
                return group.receipt()

    async def _one(self, group: "_Group", number: int, take: int) -> None:
        asked = group.request
        item = await self._batches.item(asked.batch_id, number)
        row = blank_row(asked.batch_id, number, item, take)
        if item.error is not None:
            group.rows.append(row_of_error(row, item.error))
        elif item.same_as and item.job_id is None and (same := await self._same(asked, row, item)):
            group.rows.append(same)
        elif item.same_as and item.same_as not in asked.ended:
            group.after.append((number, item.same_as))
        else:
            await self._start(group, row, item)

    async def _start(self, group: "_Group", row: DocumentRow, item: SourceItem) -> None:
        asked = group.request
        options = asked.options
        wanted = request_for(asked.batch_id, asked.user_id, row.number, item, options, row.take)
        try:
            await self._documents.start(wanted, asked.batch_id, row.take)
        except DocumentRefused as error:
            info = error.info.model_copy(update={"error_type": "terminal"})
            group.rows.append(row_of_error(row, info))
            return
        group.open.append(OpenDocument(number=row.number, job_id=wanted.job_id, take=row.take))

    async def _same(
        self, asked: StartRequest, row: DocumentRow, item: SourceItem
    ) -> DocumentRow | None:
        """The row of a document by the result of the earlier one with the same bytes; None while
        that has none."""
        other = await self._batches.item(asked.batch_id, item.same_as)
        job_id = other.job_id or document_job_id(asked.batch_id, item.same_as)
        for place in dict.fromkeys((self._results.place(other.source), self._results.place(""))):
            report = await read_report(place, job_id)
            if report is not None and not report.metadata.cancelled:
                known = row_of_result(row.model_copy(update={"job_id": job_id}), report)
                return row_of_same(row, known, item.same_as)
        return None


class _Group:
    """What became of the documents of one request."""

    def __init__(self, request: StartRequest) -> None:
        self.request = request
        self.open: list[OpenDocument] = []
        self.rows: list[DocumentRow] = []
        self.after: list[tuple[int, int]] = []

    def receipt(self) -> StartReceipt:
        """For the workflow."""
        ended: list[DocumentEnd] = [end_of(row) for row in self.rows]
        return StartReceipt(running=tuple(self.open), ended=tuple(ended), after=tuple(self.after))
