"""ingest_source: fetch a document, check it, and put it into the store under its hash."""

from temporalio import activity

from activities.support.failures import failures_for_temporal
from activities.support.heartbeats import heartbeats
from quire.contracts.document import DocumentRequest
from quire.contracts.steps import DocumentReceipt
from quire.ports import Unsealer
from quire.store.ingest import Ingest

# A server that fails may be well a moment later; a person should not wait minutes for the news.
FETCH_ATTEMPTS = 3


class IngestSource:
    """Stores the same bytes once, however many jobs bring them."""

    def __init__(self, ingest: Ingest, unseal: Unsealer) -> None:
        self._ingest = ingest
        self._unseal = unseal

    @activity.defn
    async def ingest_source(self, request: DocumentRequest) -> DocumentReceipt:
        """Bring the document into the store; refuse what cannot be one."""
        with failures_for_temporal():
            password = None
            if request.sealed_password is not None:
                password = self._unseal(request.sealed_password, request.job_id)
            last_try = activity.info().attempt >= FETCH_ATTEMPTS
            async with heartbeats():
                return await self._ingest.bring(request, password, last_try=last_try)
