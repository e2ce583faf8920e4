"""load_batch: what the store already has of a batch."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.batch_steps import LoadReceipt, LoadRequest
from quire.domain.batch.summary import loaded
from quire.store.batches import BatchStore


class LoadBatch:
    """A batch that is started again, or retried, goes on from its rows."""

    def __init__(self, batches: BatchStore) -> None:
        self._batches = batches

    @activity.defn
    async def load_batch(self, request: LoadRequest) -> LoadReceipt:
        """Where each document stands by its row."""
        with failures_for_temporal():
            async with heartbeats():
                return loaded(await self._batches.rows(request.batch_id), request.documents)
