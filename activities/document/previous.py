"""load_previous: what an earlier run of the job left, for a retry."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.results import DocumentReport
from quire.contracts.steps import DocumentReceipt, PreviousReceipt, PreviousRequest
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.ownership import may_change
from quire.domain.document.retry import take_over
from quire.ports import ResultPlaces, Store
from quire.store.results import read_report


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
                report = await self._result(request)
                if report is None:
                    raise errors.previous_result_gone()
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

    async def _result(self, request: PreviousRequest) -> DocumentReport | None:
        """From beside its source, or from the common place if that bucket refused the write."""
        beside = await read_report(self._results.place(request.origin), request.job_id)
        if beside is not None:
            return beside
        return await read_report(self._results.place(""), request.job_id)
