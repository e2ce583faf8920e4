"""Errors of a job that does not exist, or cannot do what was requested."""

from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.tree import JobError

SECTION = "job"


class JobNotFound(JobError):
    """There is no such job, or its history has expired."""


class NotOwner(JobError):
    """The job belongs to someone else."""


class NothingToRetry(JobError):
    """Every page of the job is good."""


class NotRunning(JobError):
    """The job is not running, so there is nothing to cancel."""


_kind = partial(Kind, SECTION)
_NOT_FOUND = _kind(
    JobNotFound,
    Code.EXPIRED,
    "NO_SUCH_JOB",
    "there is no such job, or its history has expired",
    "check the id with `quire list`; `quire result` may still find its result",
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


def job_not_found(job_id: str) -> JobNotFound:
    """There is no such job."""
    return _NOT_FOUND(
        f"There is no job {job_id!r}, or its history has expired.",
        "Check the id with `quire list`.",
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
