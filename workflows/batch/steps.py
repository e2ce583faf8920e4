"""The activities of a batch, each with its timeouts."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from activities.batch.collect import CollectEnds
    from activities.batch.load import LoadBatch
    from activities.batch.plan import PlanBatch
    from activities.batch.start import StartDocuments
    from activities.batch.stop import StopBatch
    from activities.batch.write import WriteBatch
    from quire.contracts.batch import BatchResult
    from quire.contracts.batch_steps import (
        BatchPlan,
        CollectReceipt,
        CollectRequest,
        LoadReceipt,
        LoadRequest,
        OpenDocument,
        SkipRequest,
        StartReceipt,
        StartRequest,
        StopRequest,
        WriteRequest,
    )
    from quire.contracts.names import batches_queue
    from quire.domain.page_ranges import format_pages
    from workflows.batch.queries import iso_time
    from workflows.batch.state import BatchState
    from workflows.document import options

# A store or a server that is away for a night must not end a batch.
PATIENT = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30))
SHORT = timedelta(minutes=10)
# A document may take as long as its deadline; the wait for it begins again after that.
LONG = timedelta(days=31)


class BatchSteps:
    """What the workflow has done to the world. Groups of rows are counted: a repeated activity
    writes the same object again."""

    def __init__(self, state: BatchState) -> None:
        self._state = state
        self._groups = 0

    async def plan(self) -> BatchPlan:
        """Whether the batch may be taken up, and with which options."""
        return await workflow.execute_local_activity_method(
            PlanBatch.plan_batch,
            self._state.request,
            start_to_close_timeout=options.LOCAL,
            retry_policy=options.QUICK,
            summary="decide how the documents will be read",
        )

    async def load(self) -> LoadReceipt:
        """What there is of the batch."""
        request = self._state.request
        return await workflow.execute_activity_method(
            LoadBatch.load_batch,
            LoadRequest(batch_id=request.batch_id, documents=request.documents),
            task_queue=_queue(),
            start_to_close_timeout=SHORT,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=PATIENT,
            summary="which documents have ended before?",
        )

    async def start(self, numbers: tuple[int, ...]) -> StartReceipt:
        """Start these documents."""
        state = self._state
        assert state.plan is not None, "a batch is planned first"
        return await workflow.execute_activity_method(
            StartDocuments.start_documents,
            StartRequest(
                batch_id=state.request.batch_id,
                user_id=state.request.user_id,
                options=state.plan.options,
                wanted=tuple((n, state.takes.get(n, 0)) for n in numbers),
                ended=state.settled_of(numbers),
                group=self._next_group(),
            ),
            task_queue=_queue(),
            start_to_close_timeout=SHORT,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=PATIENT,
            summary=f"start {format_pages(numbers)}",
        )

    async def collect(self) -> CollectReceipt:
        """Wait for the next ends."""
        return await workflow.execute_activity_method(
            CollectEnds.collect_ends,
            CollectRequest(
                batch_id=self._state.request.batch_id,
                running=self._open(),
                group=self._next_group(),
            ),
            task_queue=_queue(),
            start_to_close_timeout=LONG,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=PATIENT,
            cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
            summary=f"wait for {len(self._state.open)}",
        )

    async def stop(self) -> None:
        """Have the documents under way stop with what they have."""
        request = self._state.request
        await workflow.execute_activity_method(
            StopBatch.stop_documents,
            StopRequest(batch_id=request.batch_id, user_id=request.user_id, running=self._open()),
            task_queue=_queue(),
            start_to_close_timeout=SHORT,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=PATIENT,
            summary="stop what is under way",
        )

    async def skip(self, numbers: tuple[int, ...]) -> None:
        """Write off documents that will not be started. They are all of one retry, or of none."""
        state = self._state
        for take in sorted({state.takes.get(n, 0) for n in numbers}):
            same = tuple(n for n in numbers if state.takes.get(n, 0) == take)
            await workflow.execute_activity_method(
                StopBatch.skip_documents,
                SkipRequest(
                    batch_id=state.request.batch_id,
                    documents=state.request.documents,
                    numbers=format_pages(same),
                    why="" if state.cancelled else state.stopped_by or "",
                    take=take,
                    group=self._next_group(),
                ),
                task_queue=_queue(),
                start_to_close_timeout=SHORT,
                heartbeat_timeout=options.HEARTBEAT,
                retry_policy=PATIENT,
                summary=f"not started: {len(same)}",
            )
            state.skipped(same)

    async def write(self, now: str) -> BatchResult:
        """Write the files of the result."""
        state = self._state
        return await workflow.execute_activity_method(
            WriteBatch.write_batch,
            WriteRequest(
                request=state.request,
                started_at=iso_time(state.started),
                completed_at=now,
                cancelled=state.cancelled,
                stopped_by=state.stopped_by if state.counts.not_started else None,
            ),
            task_queue=_queue(),
            start_to_close_timeout=SHORT,
            heartbeat_timeout=options.HEARTBEAT,
            retry_policy=PATIENT,
            summary="write the result",
        )

    def _open(self) -> tuple[OpenDocument, ...]:
        return tuple(self._state.open[n] for n in sorted(self._state.open))

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups


def _queue() -> str:
    return batches_queue(workflow.info().task_queue)
