"""A job id is bound to its request: under it, no one is given the text of another one."""

import asyncio
from pathlib import Path

from quire.contracts.document import DocumentRequest
from quire.domain import errors
from quire.domain.document.origin import STORED
from quire.domain.document.request_differences import differences
from quire.jobs.access import Caller, check_owner
from quire.jobs.handles import is_running, request_of
from quire.jobs.session import Jobs
from quire.sources.files import hash_file
from quire.temporal.open_documents import fetched_document


async def check_bound(
    jobs: Jobs, request: DocumentRequest, *, any_request: bool = False
) -> DocumentRequest | None:
    """The request of the job that has this id, None without one.

    Refused when the job belongs to someone else, and, unless `any_request` will do, when it was
    asked for something else.
    """
    try:
        existing = await request_of(jobs.client, request.job_id)
    except errors.JobNotFound:
        return None
    check_owner(existing, Caller(request.user_id))
    if any_request:
        return existing
    if different := differences(await _as_stored(jobs, existing), request):
        running = await is_running(jobs.client, request.job_id)
        raise errors.job_conflict(request.job_id, different, running=running)
    return existing


async def _as_stored(jobs: Jobs, existing: DocumentRequest) -> DocumentRequest:
    """A job of an older version names its file by the path, which may hold another document today:
    what it has fetched counts. Before that, and for images, the file does as it is."""
    path = Path(existing.source)
    if not jobs.embedded or not path.is_absolute():
        return existing
    fetched = await fetched_document(jobs.client, existing.job_id)
    if fetched is not None and fetched.kind == "pdf":
        source = STORED + fetched.sha256
        return existing.model_copy(update={"source": source, "source_name": path.name})
    try:
        sha256 = await asyncio.to_thread(hash_file, path)
    except OSError:
        return existing
    return existing.model_copy(update={"source": STORED + sha256, "source_name": path.name})
