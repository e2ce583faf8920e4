"""write_batch: the files of a batch's result, from the rows of its documents."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.batch import BatchResult, DocumentRow
from quire.contracts.batch_steps import WriteRequest
from quire.domain import errors
from quire.domain.batch.rows import blank_row, row_of_error
from quire.domain.batch.summary import summarize
from quire.ports import ResultPlaces
from quire.store.batch_files import write_batch_files
from quire.store.batches import BatchStore


class WriteBatch:
    """Derives the files from the rows alone, so that they can be written again any time."""

    def __init__(self, batches: BatchStore, results: ResultPlaces) -> None:
        self._batches = batches
        self._results = results

    @activity.defn
    async def write_batch(self, request: WriteRequest) -> BatchResult:
        """Write `documents.jsonl`, `documents.parquet` and `batch.json`; return the summary."""
        with failures_for_temporal():
            async with heartbeats():
                rows = await self._all_rows(request)
                result = summarize(request, rows)
                return await write_batch_files(self._results.place(""), result, rows)

    async def _all_rows(self, request: WriteRequest) -> list[DocumentRow]:
        """Exactly one row a document: also of one whose row was lost."""
        batch_id = request.request.batch_id
        rows = {row.number: row for row in await self._batches.rows(batch_id)}
        for number in range(1, request.request.documents + 1):
            if number not in rows:
                item = await self._batches.item(batch_id, number)
                row = blank_row(batch_id, number, item, 0)
                rows[number] = row_of_error(row, errors.row_lost().info)
        return [rows[number] for number in range(1, request.request.documents + 1)]
