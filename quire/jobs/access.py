"""Who may change a job: every use case that changes one checks here."""

from dataclasses import dataclass

from quire.contracts.document import DocumentRequest
from quire.domain import errors
from quire.domain.document.ownership import may_change


@dataclass(frozen=True)
class Caller:
    """Who makes a request, by the name under which documents are owned; empty for no owner."""

    user_id: str = ""


def check_owner(request: DocumentRequest, caller: Caller) -> None:
    """Refuse a caller who does not own the job."""
    if not may_change(owner=request.user_id, caller=caller.user_id):
        raise errors.not_owner(request.job_id)
