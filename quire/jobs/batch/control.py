"""Pauses, resumes, cancels and retries a batch."""

from temporalio.service import RPCError, RPCStatusCode

from quire.app.parts import open_store
from quire.contracts.batch import BatchOrder
from quire.domain import errors
from quire.jobs.access import Caller
from quire.jobs.batch.handles import Handle, batch_handle, check_batch_owner, is_open
from quire.jobs.batch.submit import start_batch
from quire.jobs.session import Jobs
from quire.store.batches import BatchStore
from workflows.batch.workflow import BatchWorkflow


async def pause_batch(jobs: Jobs, batch_id: str, caller: Caller) -> None:
    """Start nothing more; what is under way goes on. By a signal, which the server keeps."""
    await _order(jobs, batch_id, BatchWorkflow.pause, caller)


async def resume_batch(
    jobs: Jobs, batch_id: str, caller: Caller, max_cost_usd: float | None = None
) -> None:
    """Start documents again, perhaps with another spend limit."""
    await _order(jobs, batch_id, BatchWorkflow.resume, caller, max_cost_usd)


async def cancel_batch(jobs: Jobs, batch_id: str, caller: Caller) -> None:
    """Stop the batch and its documents; what is done is kept."""
    await _order(jobs, batch_id, BatchWorkflow.cancel, caller)


async def retry_batch(
    jobs: Jobs, batch_id: str, caller: Caller, max_cost_usd: float | None = None
) -> Handle:
    """Read again what is not good: by a signal while the batch runs, by a new run once it is
    done. `BatchConflict` where all is good."""
    request = await check_batch_owner(jobs.client, batch_id, caller)
    rows = await BatchStore(open_store(jobs.settings)).rows(batch_id)
    if all(row.good for row in rows):
        raise errors.nothing_to_retry_in_batch(batch_id)
    if await is_open(jobs.client, batch_id):
        await _order(jobs, batch_id, BatchWorkflow.retry, caller, max_cost_usd)
        return batch_handle(jobs.client, batch_id)
    limit = {"max_cost_usd": max_cost_usd} if max_cost_usd is not None else {}
    again = request.model_copy(update={"retry": True, **limit})
    return await start_batch(jobs, again, again=True)


async def _order(
    jobs: Jobs,
    batch_id: str,
    signal: object,
    caller: Caller,
    max_cost_usd: float | None = None,
) -> None:
    await check_batch_owner(jobs.client, batch_id, caller)
    if not await is_open(jobs.client, batch_id):
        raise errors.batch_not_running(batch_id)
    order = BatchOrder(user_id=caller.user_id, max_cost_usd=max_cost_usd)
    try:
        await batch_handle(jobs.client, batch_id).signal(signal, order)  # type: ignore[call-overload]
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise errors.batch_not_running(batch_id) from None
