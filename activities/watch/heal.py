"""heal_document: end a stuck document, and start the same request under the same id."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from quire.contracts.watch import StuckDocument
from quire.ports import Runs


class HealDocument:
    """What was paid for is in the store; the new run takes it from there."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    @activity.defn
    async def heal_document(self, stuck: StuckDocument) -> bool:
        """Whether it was started again; a document that has come on is left alone."""
        with failures_for_temporal():
            return await self._runs.start_again(stuck)
