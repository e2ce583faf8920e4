"""find_stuck: the open documents that do not come to their end by themselves."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.watch import StuckDocument
from quire.ports import Runs


class FindStuck:
    """Asks the server alone: a stuck document answers nobody."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    @activity.defn
    async def find_stuck(self) -> list[StuckDocument]:
        """All that are stuck now."""
        with failures_for_temporal():
            async with heartbeats():
                return await self._runs.find_stuck()
