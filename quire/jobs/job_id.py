"""Job ids: new ones, and what one may look like."""

import re
import secrets
from datetime import UTC, datetime

from quire.contracts.names import JOB_ID
from quire.domain.errors import UsageError


def new_job_id() -> str:
    """A new id, which begins with the time and so sorts by it."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def check_job_id(job_id: str, shown: str) -> None:
    """Refuse what cannot be a job id; `shown` is how the caller names the value."""
    if not isinstance(job_id, str) or not re.fullmatch(JOB_ID, job_id):
        raise UsageError(
            f"{shown} {job_id!r} is not a job id.",
            "Use up to 100 letters, digits, dots, dashes and underscores.",
        )
