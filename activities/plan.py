"""plan_document: decide once how a document will be read."""

from temporalio import activity

from activities.failures import failures_for_temporal
from domain.contracts import DocumentRequest
from domain.keys import reading_key
from domain.plan import DocumentPlan, PlanDefaults, make_plan
from storage.protocol import Store


class PlanDocument:
    """Settings are the worker's, and a workflow may not read them: the plan carries them in."""

    def __init__(self, store: Store, defaults: PlanDefaults) -> None:
        self._store = store
        self._defaults = defaults

    @activity.defn
    async def plan_document(self, request: DocumentRequest) -> DocumentPlan:
        with failures_for_temporal():
            run_id = activity.info().workflow_run_id or ""
            plan, reading = make_plan(request, self._defaults, run_id=run_id)
            await self._store.put(reading_key(plan.reading), reading.model_dump_json().encode())
            return plan
