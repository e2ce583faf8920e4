"""Who may change a job.

Every use case that attaches to a job, replaces, retries or cancels it checks here. A running job
checks again by the same rule (`quire.domain.document.ownership`), since signals and updates may
come from others than the tool.
"""

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
