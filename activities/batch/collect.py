"""collect_ends: wait until documents of a batch have ended, and write their rows."""

import asyncio

from temporalio import activity

from activities.support.failures import failures_for_temporal, handed_back
from activities.support.heartbeats import heartbeats
from quire.contracts.batch import DocumentRow
from quire.contracts.batch_steps import CollectReceipt, CollectRequest, OpenDocument
from quire.domain import errors
from quire.domain.batch.keys import rows_key
from quire.domain.batch.rows import blank_row, end_of, row_of_error, row_of_result
from quire.domain.errors import JobError
from quire.ports import BatchDocuments, ResultPlaces
from quire.store.batches import BatchStore
from quire.store.results import read_report

# How long the ends that follow the first one are waited for: one object, and few events a group.
LINGER_S = 0.25
# A slot must not stay empty for that: this share of the window is enough.
SHARE = 4


class CollectEnds:
    """Waits for many documents at once: a slow one holds back nothing."""

    def __init__(
        self, batches: BatchStore, documents: BatchDocuments, results: ResultPlaces
    ) -> None:
        self._batches = batches
        self._documents = documents
        self._results = results

    @activity.defn
    async def collect_ends(self, request: CollectRequest) -> CollectReceipt:
        """The next documents that have ended, at least one; their rows are written."""
        with failures_for_temporal():
            async with heartbeats():
                rows = await self._next_rows(request)
                run = activity.info().workflow_run_id or ""
                key = rows_key(request.batch_id, run, "end", request.group)
                await self._batches.write_rows(key, rows)
                return CollectReceipt(ended=tuple(end_of(row) for row in rows))

    async def _next_rows(self, request: CollectRequest) -> list[DocumentRow]:
        waiting = [asyncio.create_task(self._row(request, one)) for one in request.running]
        leaving = asyncio.create_task(activity.wait_for_worker_shutdown())
        try:
            await asyncio.wait([*waiting, leaving], return_when=asyncio.FIRST_COMPLETED)
            until = asyncio.get_running_loop().time() + LINGER_S
            while (left := [task for task in waiting if not task.done()]) and not leaving.done():
                time_left = until - asyncio.get_running_loop().time()
                if time_left <= 0 or (len(waiting) - len(left)) * SHARE >= len(waiting):
                    break
                await asyncio.wait(left, timeout=time_left, return_when=asyncio.FIRST_COMPLETED)
            done = [task.result() for task in waiting if task.done()]
            if not done:
                raise handed_back()
            return sorted(done, key=lambda row: row.number)
        finally:
            for task in (*waiting, leaving):
                task.cancel()
            await asyncio.gather(*waiting, leaving, return_exceptions=True)

    async def _row(self, request: CollectRequest, one: OpenDocument) -> DocumentRow:
        """The row of a document, once it has ended."""
        item = await self._batches.item(request.batch_id, one.number)
        row = blank_row(request.batch_id, one.number, item, one.take)
        row = row.model_copy(update={"job_id": one.job_id})
        try:
            return row_of_result(row, await self._documents.result(one.job_id))
        except errors.JobNotFound as error:
            return await self._from_report(row, error)
        except (errors.DocumentRefused, errors.JobEnded, JobError) as error:
            paid = await self._documents.paid(one.job_id)
            return row_of_error(row, error.info, paid=paid)

    async def _from_report(self, row: DocumentRow, gone: JobError) -> DocumentRow:
        """The row by the stored result: histories may be gone before a long pause is over."""
        report = await read_report(self._results.place(""), row.job_id)
        return row_of_error(row, gone.info) if report is None else row_of_result(row, report)
