"""Errors of a job that does not exist, or cannot do what was requested."""

from collections.abc import Iterable
from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.tree import JobError

SECTION = "job"


class JobNotFound(JobError):
    """There is no such job, or its history has expired."""


class NotOwner(JobError):
    """The job belongs to someone else."""


class JobConflict(JobError):
    """The job's id is bound to another request, or its run is in the way."""


class NothingToRetry(JobError):
    """Every page of the job is good."""


class NotRunning(JobError):
    """The job is not running, so there is nothing to cancel."""


class BadInput(JobError):
    """What was sent to the job cannot be a request. Its words repeat nothing of it."""


_kind = partial(Kind, SECTION)
_NOT_FOUND = _kind(
    JobNotFound,
    Code.EXPIRED,
    "NO_SUCH_JOB",
    "there is no such job, or its history has expired",
    "check the id with `quire list`; `quire result` may still find its result",
)
_RESULT_DAMAGED = _kind(
    JobError,
    Code.IO_ERROR,
    "RESULT_DAMAGED",
    "the files of the result are not what was written, and neither are their copies",
    "submit the document again under a new job id: stored answers are not bought again",
)
_RESULT_GONE = _kind(
    JobError,
    Code.EXPIRED,
    "RESULT_GONE",
    "the job is done, but its result is not where `RESULTS_URL` points",
    "set it as the workers have it",
)
_NOT_OWNER = _kind(
    NotOwner,
    Code.FORBIDDEN,
    "NOT_OWNER",
    "the job belongs to someone else",
    "give the owner with `--user`",
)
_CONFLICT = _kind(
    JobConflict,
    Code.FORBIDDEN,
    "CONFLICT",
    "the job id is bound to another request, or its job is running and would be ended",
    "another `--job-id`; `--force` gives the id to this request, with `--replace` also while its "
    "job is running",
)
_RUNNING = _kind(
    JobError,
    Code.NOT_READY,
    "RUNNING",
    "the job is not done yet",
    "`quire watch`",
    "retryable",
)
_NOT_RUNNING = _kind(
    NotRunning, Code.NOT_READY, "NOT_RUNNING", "there is nothing to cancel", "`quire result`"
)
_BETWEEN = _kind(
    JobError,
    Code.NOT_READY,
    "BETWEEN",
    "the job is not reading pages at the moment",
    "try again in a moment",
    "retryable",
)
_NOTHING_TO_RETRY = _kind(
    NothingToRetry,
    Code.NOT_READY,
    "NOTHING_TO_RETRY",
    "every page is good",
    "name pages to read them anyway",
)
_REFUSED = _kind(
    JobError,
    Code.UNKNOWN,
    "REFUSED",
    "the job refused the request without a reason",
    "look at its status",
)
_INPUT = _kind(
    BadInput,
    Code.UNKNOWN,
    "INPUT",
    "what a signal, update or query brought cannot be a request",
    "docs/integration.md shows what each of them takes",
)


def job_not_found(job_id: str) -> JobNotFound:
    """There is no such job."""
    return _NOT_FOUND(
        f"There is no job {job_id!r}, or its history has expired.",
        "Check the id with `quire list`.",
    )


def result_damaged(job_id: str) -> JobError:
    """The result's files were changed, and there is no good copy."""
    return _RESULT_DAMAGED(
        f"The result of job {job_id} was changed since it was written, and no copy of it is whole.",
        "Submit the document again under a new job id.",
    )


def result_gone(job_id: str) -> JobError:
    """The job is done, but its result is not in the store."""
    return _RESULT_GONE(
        f"Job {job_id!r} is done, but its result is not where RESULTS_URL points.",
        "Set RESULTS_URL as the workers have it, or run the job again with --force.",
    )


def not_owner(job_id: str) -> NotOwner:
    """The caller is not the job's owner."""
    return _NOT_OWNER(
        f"Job {job_id!r} belongs to someone else.",
        "Only its owner may do this: give the owner's name with --user.",
    )


def job_conflict(job_id: str, different: Iterable[object], *, running: bool) -> JobConflict:
    """The job was asked for something else."""
    force = "--force --replace" if running else "--force"
    return _CONFLICT(
        f"Job {job_id!r} is bound to another request: {'; '.join(map(str, different))}.",
        f"Use another --job-id, or {force} to give the id to this request.",
    )


def job_in_the_way(job_id: str) -> JobConflict:
    """A forced run would end one that is running."""
    return _CONFLICT(
        f"Job {job_id!r} is running, and --force would end it.",
        "Add --replace to end it and start again; what it has paid for is kept. Without --force "
        "this command follows it.",
    )


def still_running(job_id: str) -> JobError:
    """The job has no result yet."""
    return _RUNNING(f"Job {job_id!r} is still running.", f"Follow it with `quire watch {job_id}`.")


def not_running(job_id: str) -> NotRunning:
    """The job is done, so it cannot be cancelled."""
    return _NOT_RUNNING(
        f"Job {job_id!r} is not running.", f"See its result with `quire result {job_id}`."
    )


def between_steps(job_id: str) -> JobError:
    """The job is not reading pages now, so none can be retried."""
    return _BETWEEN(
        f"Job {job_id!r} is not reading pages at the moment.",
        "Try again in a moment, or once it is done.",
    )


def nothing_to_retry(job_id: str) -> NothingToRetry:
    """No page of the job is degraded, or none of the named ones exists."""
    return _NOTHING_TO_RETRY(
        f"Job {job_id!r} has no such page to read again.",
        "Every page is good; name pages with --pages to read them anyway.",
    )


def job_refused() -> JobError:
    """The job refused an update without a reason."""
    return _REFUSED("The job refused the request.", "Look at its status.")


def bad_start() -> BadInput:
    """A workflow was started by something that is not the request that it takes."""
    return _INPUT(
        "What started it is not the one request that it takes.",
        "docs/schemas/request.json shows a document's request; start it again with one.",
    )


def start_unknown(job_id: str) -> BadInput:
    """A job was started by a foreign client, or by one of a later version."""
    return _INPUT(
        f"Job {job_id!r} was not started by a request that this version knows.",
        f"Use another job id; `temporal workflow terminate -w document-{job_id}` ends that one.",
    )


def bad_input(problem: str) -> BadInput:
    """A signal, update or query brought something that cannot be a request."""
    return _INPUT(
        f"The input is not understood: {problem}.",
        "docs/integration.md shows what signals, updates and queries take.",
    )
