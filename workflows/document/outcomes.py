"""What a failed activity means for its page, or for the document."""

from typing import Literal

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    TimeoutError,
    TimeoutType,
)

with workflow.unsafe.imports_passed_through():
    from activities.support.failures import (
        ATTEMPT_FAILED,
        CROWDED_OUT,
        HANDED_BACK,
        RESTING,
        STOOD_DOWN,
    )
    from quire.contracts.codes import Code, ErrorInfo, FailureKind
    from quire.contracts.steps import AttemptFailure, AttemptRest
    from quire.domain import errors

AsideReason = Literal["crowded", "stood_down"]


def attempt_outcome(error: ActivityError) -> AttemptFailure | AttemptRest | AsideReason:
    """Why an attempt ended without an answer."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        if cause.type == ATTEMPT_FAILED:
            return AttemptFailure.model_validate(cause.details[0])
        if cause.type == RESTING:
            return AttemptRest.model_validate(cause.details[0])
        if cause.type in (STOOD_DOWN, HANDED_BACK):
            return "stood_down"
        if cause.type == CROWDED_OUT:
            return "crowded"
        ours = FailureKind.STORAGE if cause.type == Code.IO_ERROR else FailureKind.BUG
        return AttemptFailure(kind=ours, message=cause.message)
    if isinstance(cause, TimeoutError):
        if cause.type is TimeoutType.SCHEDULE_TO_START:
            return "crowded"
        if cause.type is TimeoutType.HEARTBEAT:
            return errors.workers_lost()
        return errors.attempt_too_long()
    if isinstance(cause, CancelledError):
        return "stood_down"
    return errors.attempt_ended_unknown()


def document_error(error: ActivityError) -> ErrorInfo:
    """Why there is no document."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.details and cause.type in set(Code):
        return ErrorInfo.model_validate(cause.details[0])
    if isinstance(cause, TimeoutError):
        return errors.no_worker_in_time().info
    return errors.step_failed_unknown().info
