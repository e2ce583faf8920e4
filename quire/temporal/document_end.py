"""Waits for the end of a document's workflow, also where it was stuck and is started again."""

import asyncio
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, TerminatedError

from quire.contracts.codes import ErrorInfo
from quire.contracts.results import DocumentResult
from quire.domain import errors
from quire.domain.document.stuck import HEALED_REASON

# Between the end of a stuck run and the start of the next one.
START_WITHIN_S = 60.0
LOOK_EVERY_S = 0.2


async def document_result(handle: WorkflowHandle[Any, DocumentResult]) -> DocumentResult:
    """The job's result once it is done; `DocumentRefused` when there was no document. Where the
    job was stuck and is started again, that of the new run."""
    try:
        return await _result_of_last_run(handle)
    except WorkflowFailureError as error:
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.details:
            info = ErrorInfo.model_validate(cause.details[0])
            raise errors.DocumentRefused.from_info(info) from None
        raise errors.job_ended(type(cause).__name__) from None


async def _result_of_last_run(handle: WorkflowHandle[Any, DocumentResult]) -> DocumentResult:
    """The result of this run, or of the one that was started in its place when it was stuck."""
    give_up_at = None
    while True:
        try:
            return await handle.result()
        except WorkflowFailureError as error:
            cause = error.cause
            if not isinstance(cause, TerminatedError) or cause.message != HEALED_REASON:
                raise
            now = asyncio.get_running_loop().time()
            give_up_at = give_up_at or now + START_WITHIN_S
            if now > give_up_at:
                raise
        await asyncio.sleep(LOOK_EVERY_S)
        # The handle of a start is bound to the run that it began.
        handle = WorkflowHandle(handle._client, handle.id, result_type=DocumentResult)
