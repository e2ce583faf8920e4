"""What both clients can do, each call once: use cases over one connection."""

import asyncio
from dataclasses import dataclass

from quire.client.options import (
    EstimateOptions,
    ListOptions,
    Options,
    Pages,
    make_estimate_request,
    make_request,
    page_list,
    refuse_unknown,
    seconds_of,
)
from quire.client.result import Result
from quire.client.source import Source, given_document
from quire.contracts.document import DocumentRequest
from quire.contracts.status import DocumentStatus
from quire.domain import errors
from quire.domain.document.origin import shown_name
from quire.domain.errors import UsageError
from quire.jobs.access import Caller
from quire.jobs.bound_request import check_bound
from quire.jobs.cancel import cancel_job
from quire.jobs.estimate import Estimate, estimate_cost
from quire.jobs.handles import find_job
from quire.jobs.list_jobs import BadFilter, JobFilter, JobList, list_jobs
from quire.jobs.page_feed import Page, PageFeed
from quire.jobs.result import LoadedResult, finished_result, load_result, wait_for_result
from quire.jobs.retry import retry_pages
from quire.jobs.session import Jobs
from quire.jobs.status import job_status
from quire.jobs.submit import prepare_request, submit
from quire.settings import Settings


@dataclass(frozen=True)
class Submission:
    """A document on its way: what is asked of it, and where it comes from."""

    source: Source
    request: DocumentRequest
    name: str | None
    password: str | None
    replace: bool = False

    @classmethod
    def of(cls, source: Source, options: Options) -> "Submission":
        """Check what can be checked before anything is opened."""
        request = make_request(options)
        name, password = options.get("name"), options.get("password")
        return cls(source, request, name, password, options.get("replace", False))

    async def start(self, jobs: Jobs) -> DocumentRequest:
        """Start the job, or find it under its id; returns the request, to which the id is bound."""
        given = given_document(self.source, self.name)
        ready = await prepare_request(jobs.settings, self.request, given, self.password)
        if self.name:
            ready = ready.model_copy(update={"source_name": shown_name(self.name)})
        with jobs.traces.command("submit", ready.job_id):
            await submit(jobs, ready, replace=self.replace)
        return ready


async def estimate(settings: Settings, source: Source, options: EstimateOptions) -> Estimate:
    """What a document would cost; no server is needed and no model is called."""
    request = make_estimate_request(options)
    given = given_document(source, options.get("name"))
    return await estimate_cost(settings, request, given, options.get("password"))


async def status(jobs: Jobs, job_id: str) -> DocumentStatus:
    """The progress of a job."""
    return await job_status(jobs, job_id)


async def wait(jobs: Jobs, job_id: str, seconds: float | None) -> bool:
    """Wait for the job's end; False when it did not come in time. A refusal is an end too."""
    handle = await find_job(jobs.client, job_id)
    ending = asyncio.ensure_future(wait_for_result(handle))
    try:
        await asyncio.wait((ending,), timeout=seconds)
        if ending.done() and not isinstance(ending.exception(), errors.QuireError):
            # Raises what kept the server from answering.
            ending.result()
        return ending.done()
    finally:
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)


async def result(
    jobs: Jobs, job_id: str, seconds: float | None, request: DocumentRequest | None = None
) -> Result:
    """The result of a job, once it is done; `TimeoutError` when that takes too long, and
    `JobConflict` when the job's id is no longer bound to this request."""
    try:
        ended = await wait(jobs, job_id, seconds)
    except errors.JobNotFound:
        # Results outlive history.
        ended = True
    if not ended:
        raise TimeoutError(f"job {job_id!r} is not done after {seconds} s; it goes on")
    finished = await finished_result(jobs, job_id)
    loaded = await load_result(jobs.settings, finished.result)
    if request is not None:
        await check_bound(jobs, request)
    return await _loaded(loaded)


async def pages(jobs: Jobs, feed: PageFeed, request: DocumentRequest | None) -> tuple[Page, ...]:
    """Further pages of a job whose id is still bound to the request; none at its end."""
    found = await feed.read_next()
    if request is not None:
        await check_bound(jobs, request)
    return found


async def _loaded(loaded: LoadedResult) -> Result:
    """In a thread: a long document has many pages."""
    return await asyncio.to_thread(Result.of, loaded)


async def retry(jobs: Jobs, job_id: str, user: str, pages: Pages | None) -> None:
    """Read the degraded pages again, or the named ones."""
    outcome = await retry_pages(jobs, job_id, Caller(user), page_list(pages))
    if outcome.nothing_to_do:
        raise errors.nothing_to_retry(job_id)


async def cancel(jobs: Jobs, job_id: str, user: str) -> None:
    """Request that a job stops with what it has."""
    await cancel_job(jobs, job_id, Caller(user))


def job_filter(options: ListOptions) -> JobFilter:
    """The filter of a list; refused by the name of the argument."""
    refuse_unknown(options, ListOptions)
    wanted = JobFilter(
        status=options.get("status"),
        user=options.get("user"),
        fallback=options.get("fallback", False),
        doubtful=options.get("doubtful", False),
        since_s=seconds_of("since", options.get("since")),
        limit=options.get("limit", 20),
        runs=options.get("runs", False),
    )
    if wanted.limit < 1:
        raise UsageError("limit: it must be at least 1.", "Leave it out for 20.")
    try:
        wanted.check()
    except BadFilter as error:
        remedy = "Use fallback=True or status='failed'." if error.remedy else "Correct it."
        raise UsageError(f"{error.field}: {error.problem}", remedy) from None
    return wanted


async def jobs_listed(jobs: Jobs, wanted: JobFilter) -> JobList:
    """The documents, newest first."""
    return await list_jobs(jobs, wanted)
