"""plan_batch: whether a batch may be taken up, and how its documents are read."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from quire.contracts.batch import BatchRequest
from quire.contracts.batch_steps import BatchPlan
from quire.ports import StartCheck


class PlanBatch:
    """Carries the worker's settings into the workflow. `deadline_s` is that of a document."""

    def __init__(self, check: StartCheck, deadline_s: float) -> None:
        self._check = check
        self._deadline_s = deadline_s

    @activity.defn
    async def plan_batch(self, request: BatchRequest) -> BatchPlan:
        """The options of every document, of a batch that was started by the rules."""
        with failures_for_temporal():
            await self._check(request, activity.info().workflow_id or "")
            deadline = request.options.deadline_s or self._deadline_s
            return BatchPlan(options=request.options.model_copy(update={"deadline_s": deadline}))
