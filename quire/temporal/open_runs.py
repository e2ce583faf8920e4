"""Open documents as the server lists them: finds those that are stuck, and starts them again.

A stuck document is started from its own first event, payload by payload: input, signature, owner
and keys stay as they were, and nothing has to be decrypted.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import Memo
from temporalio.api.common.v1 import WorkflowExecution as RunName
from temporalio.api.enums.v1 import (
    EventType,
    WorkflowIdConflictPolicy,
    WorkflowIdReusePolicy,
)
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryReverseRequest,
    StartWorkflowExecutionRequest,
)
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowHistoryEventFilterType,
)
from temporalio.service import RPCError, RPCStatusCode

from quire.contracts.names import (
    DEADLINE_AT_MEMO,
    DEADLINE_MEMO,
    DEADLINE_TIMER,
    HEALED_MEMO,
    LONGEST_DEADLINE_S,
    WORKFLOW_ID_PREFIX,
    workflow_id,
)
from quire.contracts.watch import Healed, StuckDocument
from quire.domain.document.deadline import LONGEST_GROWN_S
from quire.domain.document.stuck import (
    GRACE_S,
    HEALED_REASON,
    MOST_HEALS,
    OpenRun,
    execution_timeout_s,
    parse_healed,
    why_stuck,
)
from quire.temporal.task_runner import DiscardedRunError

# The server's own mark of workflows whose tasks fail.
PROBLEMS = "TemporalReportedProblems"
# Of a history's end; the first of failures in a row stands there, and no later one.
LAST_EVENTS = 20
TASK_FAILED = EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
TASK_ENDS = (
    TASK_FAILED,
    EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
)
OPEN = "WorkflowType = 'DocumentWorkflow' AND ExecutionStatus = 'Running'"
# The deadline's timer is among the first events of a run.
FIRST_EVENTS = 60
# Of a document that was continued more often, the latest runs count.
MOST_RUNS = 100
Handle = WorkflowHandle[Any, Any]


class OpenRuns:
    """The open documents of a namespace. `deadline_s` is that of documents without their own."""

    def __init__(self, client: Client, deadline_s: float, *, grace_s: float = GRACE_S) -> None:
        self._client = client
        self._deadline_s = deadline_s
        self._grace_s = grace_s

    async def find_stuck(self) -> list[StuckDocument]:
        """Those that do not come to their end by themselves."""
        listed = [*await self._marked(), *await self._late()]
        different = {execution.run_id: execution for execution in listed}
        runs = [await self._run(execution) for execution in different.values()]
        return [stuck for run in runs if run and (stuck := run.judged())]

    async def start_again(self, stuck: StuckDocument) -> bool:
        """End the run and start the same request under the same id; False when it is no longer
        stuck. A repetition goes on where the last one was interrupted."""
        handle = self._client.get_workflow_handle(workflow_id(stuck.job_id), run_id=stuck.run_id)
        start = await self._first_start(handle)
        if start is None or not await self._end(handle):
            return False
        await self._start(start, stuck)
        return True

    # --- looking -----------------------------------------------------------------------------

    async def _marked(self) -> list[WorkflowExecution]:
        """Those whose tasks fail, by the server's own mark."""
        try:
            return await self._list(f"{OPEN} AND {PROBLEMS} IS NOT NULL")
        except RPCError as error:
            if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            return []  # a server that is too old to mark them

    async def _late(self) -> list[WorkflowExecution]:
        """Those whose deadline, as far as their start tells, has passed."""
        now = datetime.now(UTC)
        begun = now - timedelta(seconds=self._grace_s)
        listed = await self._list(f"{OPEN} AND StartTime < '{begun:%Y-%m-%dT%H:%M:%S.%f}Z'")
        return [execution for execution in listed if await self._ends(execution) < begun]

    async def _list(self, query: str) -> list[WorkflowExecution]:
        return [execution async for execution in self._client.list_workflows(query)]

    async def _run(self, execution: WorkflowExecution) -> OpenRun | None:
        """The facts about an open run; None when it has ended."""
        handle = self._client.get_workflow_handle(execution.id, run_id=execution.run_id)
        try:
            description = await handle.describe()
            ends = await self._ends(description, await self._deadline_timer(handle))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return None
        if description.status is not WorkflowExecutionStatus.RUNNING:
            return None
        raw = description.raw_description
        marked = PROBLEMS in raw.workflow_execution_info.search_attributes.indexed_fields
        return OpenRun(
            job_id=execution.id.removeprefix(WORKFLOW_ID_PREFIX),
            run_id=execution.run_id,
            marked=marked,
            overdue=datetime.now(UTC) > ends + timedelta(seconds=self._grace_s),
            tries=raw.pending_workflow_task.attempt,
            activities=len(raw.pending_activities),
            healed=await _heals(description),
            unanswered=marked and not await self._fails(raw.workflow_execution_info.execution),
        )

    async def _fails(self, execution: RunName) -> bool:
        """Whether a worker has said that the present task fails, and not only to have it again."""
        page = await self._client.workflow_service.get_workflow_execution_history_reverse(
            GetWorkflowExecutionHistoryReverseRequest(
                namespace=self._client.namespace,
                execution=execution,
                maximum_page_size=LAST_EVENTS,
            )
        )
        ends = [event for event in page.history.events if event.event_type in TASK_ENDS]
        if not ends or ends[0].event_type != TASK_FAILED:
            return False
        failure = ends[0].workflow_task_failed_event_attributes.failure
        return failure.application_failure_info.type != DiscardedRunError.__name__

    async def _ends(self, execution: WorkflowExecution, timer: datetime | None = None) -> datetime:
        """The deadline by the run's own timer, else as far as its start tells; and no sooner than
        the one to which the document has moved it."""
        began, memo = execution.start_time, execution.raw_info.memo
        ends = timer or began + timedelta(seconds=await self._asked(memo) or self._deadline_s)
        latest = began.timestamp() + LONGEST_DEADLINE_S
        moved = min(await self._number(memo, DEADLINE_AT_MEMO), latest)
        return max(ends, datetime.fromtimestamp(moved, UTC))

    async def _asked(self, memo: Memo) -> float | None:
        """The deadline that was asked for."""
        asked = await self._number(memo, DEADLINE_MEMO)
        return asked if 0 < asked <= LONGEST_DEADLINE_S else None

    async def _number(self, memo: Memo, name: str) -> float:
        """A number of the memo; 0 where there is none, or it is sealed, or anybody's."""
        try:
            (found,) = await self._client.data_converter.decode([memo.fields[name]])
        except Exception:
            return 0.0
        return max(0.0, float(found)) if isinstance(found, int | float) else 0.0

    async def _deadline_timer(self, handle: Handle) -> datetime | None:
        """When the document's own timer fires: the only sure word on its deadline."""
        number = 0
        async for event in handle.fetch_history_events(page_size=FIRST_EVENTS):
            timer = event.timer_started_event_attributes
            if event.HasField("timer_started_event_attributes") and await self._is_deadline(event):
                began = event.event_time.ToDatetime(tzinfo=UTC)
                return began + timer.start_to_fire_timeout.ToTimedelta()
            number += 1
            if number == FIRST_EVENTS:
                break
        return None

    async def _is_deadline(self, event: HistoryEvent) -> bool:
        try:
            summary = await self._client.data_converter.decode([event.user_metadata.summary])
        except Exception:  # sealed, with a key that this worker does not have
            return False
        return summary == [DEADLINE_TIMER]

    # --- starting again ----------------------------------------------------------------------

    async def _first_start(self, handle: Handle) -> HistoryEvent | None:
        """The first event of the document's first run; None when the server has forgotten it."""
        try:
            start = await _first_event(handle)
            first = start.workflow_execution_started_event_attributes.first_execution_run_id
            if first in ("", handle.run_id):
                return start
            return await _first_event(self._client.get_workflow_handle(handle.id, run_id=first))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return None

    async def _end(self, handle: Handle) -> bool:
        """Whether the run is ended by the watch, now or by an earlier try."""
        description = await handle.describe()
        if description.status is WorkflowExecutionStatus.RUNNING:
            run = await self._run(description)
            if run is None or why_stuck(run) is None or run.healed >= MOST_HEALS:
                return False
            await handle.terminate(reason=HEALED_REASON)
            return True
        ended = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED
        async for event in handle.fetch_history_events(
            event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT
        ):
            words = event.workflow_execution_terminated_event_attributes.reason
            return event.event_type == ended and words == HEALED_REASON
        return False

    async def _start(self, start: HistoryEvent, stuck: StuckDocument) -> None:
        begun = start.workflow_execution_started_event_attributes
        runs = await self._runs(stuck)
        healed = Healed(
            count=stuck.healed + 1, run_id=begun.original_execution_run_id, runs=tuple(runs)
        )
        (note,) = await self._client.data_converter.encode([healed])
        timeout = Duration()
        # Without a deadline of its own it may grow.
        deadline = await self._asked(begun.memo) or max(self._deadline_s, LONGEST_GROWN_S)
        timeout.FromTimedelta(timedelta(seconds=execution_timeout_s(deadline, healed=True)))
        request = StartWorkflowExecutionRequest(
            namespace=self._client.namespace,
            workflow_id=workflow_id(stuck.job_id),
            workflow_type=begun.workflow_type,
            task_queue=begun.task_queue,
            input=begun.input,
            header=begun.header,
            memo=Memo(fields={**begun.memo.fields, HEALED_MEMO: note}),
            search_attributes=begun.search_attributes,
            priority=begun.priority,
            user_metadata=start.user_metadata,
            workflow_execution_timeout=timeout,
            identity=self._client.identity,
            # The server starts it once, however often it is asked to.
            request_id=f"heal-{stuck.run_id}",
            workflow_id_reuse_policy=WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
            workflow_id_conflict_policy=WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
        )
        # A person who was quicker has started it: then that run is the document.
        await self._client.workflow_service.start_workflow_execution(request)

    async def _runs(self, stuck: StuckDocument) -> list[str]:
        """The stuck run, and those that it continued, as far as the server knows them."""
        runs, before = list[str](), stuck.run_id
        while before and len(runs) < MOST_RUNS:
            runs.append(before)
            handle = self._client.get_workflow_handle(workflow_id(stuck.job_id), run_id=before)
            try:
                start = await _first_event(handle)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                break
            begun = start.workflow_execution_started_event_attributes
            before = begun.continued_execution_run_id
        return runs


async def _first_event(handle: Handle) -> HistoryEvent:
    async for event in handle.fetch_history_events(page_size=1):
        return event
    raise LookupError("a history has a first event")


async def _heals(description: WorkflowExecutionDescription) -> int:
    """How often it was healed; what cannot be read must not be healed for ever."""
    try:
        return parse_healed(await description.memo_value(HEALED_MEMO, default={})).count
    except Exception:
        return MOST_HEALS
