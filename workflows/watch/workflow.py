"""WatchWorkflow: finds documents that are stuck, and starts each of them again, once."""

from collections.abc import Iterable
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.watch.find import FindStuck
    from activities.watch.heal import HealDocument
    from quire.contracts.watch import StuckDocument, WatchRequest, WatchResult
    from quire.domain.document.stuck import may_be_healed, still_stuck
    from quire.telemetry import metrics
    from quire.telemetry.recorder import MetricRecorder

# A look that fails is repeated by the next watch.
FEW_TRIES = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
# A document that was ended must be started again.
MANY_TRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=30),
    maximum_attempts=100,
)
ONE_LOOK = timedelta(minutes=2)
HEARTBEAT = timedelta(seconds=10)
ONE_HEAL = timedelta(seconds=30)


@workflow.defn
class WatchWorkflow:
    """Look, look again, and start again what was stuck both times."""

    @workflow.run
    async def run(self, request: WatchRequest | None = None) -> WatchResult:
        """What was healed, and what cannot be."""
        request = request or WatchRequest()
        before = await self._look()
        if not before:
            return WatchResult()
        await workflow.sleep(timedelta(seconds=request.look_again_s), summary="look again")
        stuck = still_stuck(before, await self._look())
        for one in _each(stuck, healable=False):
            self._report("document_stuck", metrics.STUCK, one)
        healed = [one.job_id for one in _each(stuck, healable=True) if await self._heal(one)]
        beyond = tuple(one.job_id for one in _each(stuck, healable=False))
        return WatchResult(healed=tuple(healed), stuck=beyond)

    async def _look(self) -> list[StuckDocument]:
        return await workflow.execute_activity_method(
            FindStuck.find_stuck,
            start_to_close_timeout=ONE_LOOK,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=FEW_TRIES,
            summary="which documents are stuck?",
        )

    async def _heal(self, stuck: StuckDocument) -> bool:
        try:
            done = await workflow.execute_activity_method(
                HealDocument.heal_document,
                stuck,
                start_to_close_timeout=ONE_HEAL,
                retry_policy=MANY_TRIES,
                summary=f"start {stuck.job_id} again",
            )
        except ActivityError:
            self._report("document_not_healed", metrics.STUCK, stuck)
            return False
        if done:
            self._report("document_healed", metrics.HEALED, stuck)
        return done

    def _report(self, event: str, measure: metrics.Measure, stuck: StuckDocument) -> None:
        facts = {"job_id": stuck.job_id, "stuck_run": stuck.run_id, "why": stuck.why}
        workflow.logger.warning(event, extra={**facts, "task_tries": stuck.tries})
        MetricRecorder(workflow.metric_meter()).count(measure)


def _each(stuck: Iterable[StuckDocument], *, healable: bool) -> list[StuckDocument]:
    return [one for one in stuck if may_be_healed(one) is healable]
