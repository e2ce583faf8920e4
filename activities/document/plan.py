"""plan_document and write_brief: decide once how a document will be read, and write it down."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from quire.contracts.document import DocumentRequest
from quire.contracts.plan import DocumentPlan, PlanDefaults
from quire.contracts.stored import Brief
from quire.domain.document.keys import brief_id, brief_key
from quire.domain.document.plan import make_plan
from quire.ports import StartCheck, Store


class PlanDocument:
    """Carries the worker's settings into the workflow, which may not read them itself."""

    def __init__(self, store: Store, defaults: PlanDefaults, check: StartCheck) -> None:
        self._store = store
        self._defaults = defaults
        self._check = check

    @activity.defn
    async def plan_document(self, request: DocumentRequest) -> DocumentPlan:
        """Decide the routes, limits and prompts of one document that was started by the rules."""
        with failures_for_temporal():
            info = activity.info()
            await self._check(request, info.workflow_id or "")
            return make_plan(request, self._defaults, run_id=info.workflow_run_id or "")

    @activity.defn
    async def write_brief(self, brief: Brief) -> str:
        """Store what every attempt of the document needs; return its id."""
        with failures_for_temporal():
            name = brief_id(brief)
            await self._store.put(brief_key(name), brief.model_dump_json().encode())
            return name
