"""stop_documents and skip_documents: end what is under way, and write off what is not begun."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.batch_steps import SkipRequest, StopRequest
from quire.domain import errors
from quire.domain.batch.keys import rows_key
from quire.domain.batch.rows import blank_row, row_of_error
from quire.domain.page_ranges import choose_pages
from quire.ports import BatchDocuments
from quire.store.batches import BatchStore


class StopBatch:
    """What a batch does with its documents when it stops before their end."""

    def __init__(self, batches: BatchStore, documents: BatchDocuments) -> None:
        self._batches = batches
        self._documents = documents

    @activity.defn
    async def stop_documents(self, request: StopRequest) -> None:
        """Have these documents stop with what they have."""
        with failures_for_temporal():
            async with heartbeats():
                for one in request.running:
                    await self._documents.stop(one.job_id, request.user_id)

    @activity.defn
    async def skip_documents(self, request: SkipRequest) -> None:
        """Write a row for each document that will not be started."""
        why = errors.budget_reached(request.why) if request.why else errors.batch_called_off()
        with failures_for_temporal():
            async with heartbeats():
                rows = []
                for number in choose_pages(request.numbers, request.documents):
                    item = await self._batches.item(request.batch_id, number)
                    row = blank_row(request.batch_id, number, item, request.take)
                    rows.append(row_of_error(row, why.info, "not_started"))
                run = activity.info().workflow_run_id or ""
                key = rows_key(request.batch_id, run, "skip", request.group)
                await self._batches.write_rows(key, rows)
