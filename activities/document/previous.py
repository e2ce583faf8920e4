"""load_previous: what an earlier run of the job left, for a retry."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.results import DocumentReport
from quire.contracts.steps import DocumentReceipt, PreviousReceipt, PreviousRequest
from quire.domain import errors
from quire.domain.document.keys import result_key, source_key
from quire.domain.document.ownership import may_change
from quire.domain.document.retry import take_over
from quire.ports import ResultPlaces, Store


class LoadPrevious:
    """Reads the earlier result, which with the store is all that a retry needs."""

    def __init__(self, store: Store, results: ResultPlaces) -> None:
        self._store = store
        self._results = results

    @activity.defn
    async def load_previous(self, request: PreviousRequest) -> PreviousReceipt:
        """The earlier run's pages, for the owner of the job."""
        with failures_for_temporal():
            async with heartbeats():
                data = await self._result(request)
                if data is None:
                    raise errors.previous_result_gone()
                report = DocumentReport.model_validate_json(data)
                if not may_change(owner=report.user_id, caller=request.user_id):
                    raise errors.not_owner(request.job_id)
                path = await self._store.local_path(source_key(report.sha256))
                if path is None:
                    raise errors.document_gone()
                source = DocumentReceipt(
                    sha256=report.sha256,
                    bytes=path.stat().st_size,
                    page_count=report.page_count,
                    kind=report.kind,
                )
                return take_over(report, request.pages, source)

    async def _result(self, request: PreviousRequest) -> bytes | None:
        """From beside its source, or from the common place if that bucket refused the write."""
        key = result_key(request.job_id, "result.json")
        beside = await self._results.place(request.origin).get(key)
        return beside if beside is not None else await self._results.place("").get(key)
