"""The one place where our failures become Temporal's."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from quire.contracts.codes import ErrorInfo
from quire.contracts.steps import AttemptFailure, AttemptRest
from quire.domain import errors
from quire.domain.errors import AttemptFailed, QuireError

ATTEMPT_FAILED = "AttemptFailed"
STOOD_DOWN = "StoodDown"
CROWDED_OUT = "CrowdedOut"
HANDED_BACK = "HandedBack"
RESTING = "Resting"


def attempt_failed(error: AttemptFailed, milliseconds: int) -> ApplicationError:
    """A vendor's failure goes to the scheduler, which knows other routes: never retried here."""
    failure = AttemptFailure(
        kind=error.kind,
        message=error.info.message,
        milliseconds=milliseconds,
        retry_after_s=error.retry_after_s,
        wasted=error.wasted,
    )
    return _never_retried(ATTEMPT_FAILED, error.info.message, failure)


def stood_down(route: str) -> ApplicationError:
    """The route failed while this attempt was queued for it: the vendor was not called."""
    return _never_retried(STOOD_DOWN, f"{route} has just failed: not called.")


def resting(route: str, told: AttemptRest) -> ApplicationError:
    """The route looks dead to this worker, from whatever document: the vendor was not called."""
    return _never_retried(RESTING, f"{route} looks dead ({told.reason}): not called.", told)


def crowded_out(route: str) -> ApplicationError:
    """Other documents hold every slot of the route: the page may go to its next one."""
    return _never_retried(CROWDED_OUT, f"{route} has no free slot: not called.")


def _never_retried(kind: str, message: str, *details: object) -> ApplicationError:
    return ApplicationError(
        message,
        *details,
        type=kind,
        non_retryable=True,
        category=ApplicationErrorCategory.BENIGN,
    )


def handed_back() -> ApplicationError:
    """The worker stops before the attempt had a slot: another worker takes it at once."""
    return ApplicationError(
        "The worker is stopping: not called.",
        type=HANDED_BACK,
        next_retry_delay=timedelta(milliseconds=10),
        category=ApplicationErrorCategory.BENIGN,
    )


def refused(info: ErrorInfo) -> ApplicationError:
    """A failure of the document as a whole, with its public error as the detail."""
    return ApplicationError(
        info.message,
        info,
        type=info.code.value,
        non_retryable=info.error_type == "terminal",
        category=ApplicationErrorCategory.BENIGN,
    )


@contextmanager
def failures_for_temporal() -> Iterator[None]:
    """Around the body of an activity: what leaves it is a Temporal failure with a public code."""
    try:
        yield
    except QuireError as error:
        _log_retry(error, str(error))
        raise refused(error.info) from None
    except OSError as error:
        # Stores name their place themselves: what else an activity writes is temporary.
        full = errors.is_disk_full(error)
        ours = errors.disk_full(error, "TMPDIR") if full else errors.storage_failed(error)
        _log_retry(ours, str(error))
        raise refused(ours.info) from None


def _log_retry(error: QuireError, words: str) -> None:
    """Temporal retries silently: without this line a worker whose disk is full would look idle.
    A final failure is logged by the workflow, with the end of the document."""
    if error.error_type == "retryable":
        facts = {"error_code": error.code.value, "reason": error.reason, "error": words}
        # The disk's owner should not have to wait for the end of the document.
        level = logging.ERROR if isinstance(error, errors.DiskFull) else logging.WARNING
        activity.logger.log(level, "step_failed", extra=facts)
