"""The runner that lets no decision stand which a replay would not repeat.

Queries make the SDK act on events at other moments than a replay does. What a workflow decides then
contradicts its history: every later replay fails, and the document is stuck for good.

1. A query that waited for a lost worker reaches the next one with every event since, also with
   events for which no workflow task has been completed. The SDK activates the workflow with them,
   answers the query, drops the decisions and keeps the run in its cache; the task that follows
   brings only the rest. Nothing in an activation tells such events from a task's: after a task
   without jobs, or one that was started and lost, even clock and history size move on. But the
   query always follows them at once. So when such a query comes first after events, the runner asks
   the server whether this worker has completed their task. If it has not, or the server does not
   say, the query is answered and the run leaves the cache. The next task replays the whole history.
2. A query that belongs to a task is given to the workflow while the task's local activities run.
   Its answer ends the task, which also records the end of a local activity that the workflow sees
   in the next task; a replay shows it in the first. So such a query is answered with the end of the
   last local activity.

Both are kept up without failing a task. Where the SDK still activates a run that was to leave the
cache, goes on after a task that was lost, or shows the end of a local activity too late, the task
fails and the next one replays: that is always safe.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

import temporalio
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.history.v1 import HistoryEvent, MarkerRecordedEventAttributes
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import Client
from temporalio.worker import (
    UnsandboxedWorkflowRunner,
    Worker,
    WorkflowInstance,
    WorkflowInstanceDetails,
)

# The version of the SDK that this was tried with: tests/workflows/test_lost_queries.py brings every
# case about with a real server. No newer version may be pinned before they pass with it.
TRIED_SDK = "1.35.0"
# How the SDK names a query that comes by itself, and not as part of a workflow task.
QUERY_WITHOUT_TASK = "legacy_query"
# How the SDK records the end of a local activity.
LOCAL_ACTIVITY_MARKER = "core_local_activity"
# The SDK takes a workflow for deadlocked after two seconds.
ASK_WITHIN_S = 1.0
EVENTS_A_PAGE = 50

log = logging.getLogger(__name__)

Activate = Callable[[WorkflowActivation], WorkflowActivationCompletion]


class History(Protocol):
    """What the server knows of one run."""

    def has_completed(self, started: int) -> bool:
        """Whether this worker is known to have completed the task that `started` began."""

    def may_have_ended(self, seq: int, after: int) -> bool:
        """Whether the end of a local activity may stand in history, after that event."""


class DiscardedRunError(RuntimeError):
    """Fails a workflow task, so that the next one replays the whole history."""


class WholeTaskRunner(UnsandboxedWorkflowRunner):
    """Runs workflows without a sandbox, and throws away what was decided without a task."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._worker: Worker | None = None

    def serve(self, worker: Worker) -> None:
        """Name the worker whose cache holds the runs."""
        self._worker = worker

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Make an instance of a run, whose tasks are watched."""
        instance = super().create_instance(det)
        history = RunHistory(
            self._client, det.info.workflow_id, det.info.run_id, asyncio.get_running_loop()
        )
        watched: Activate = WholeTasks(
            instance.activate, history, lambda: self._evict(det.info.run_id)
        )
        # Assigned, not wrapped: the SDK asks instances for more than it promises of them.
        instance.activate = watched  # type: ignore[assignment, method-assign]
        return instance

    def _evict(self, run_id: str) -> None:
        log.info("a query brought events before their task: run %s will be replayed", run_id)
        if self._worker is not None:
            # The SDK evicts once the query is answered; tasks that come meanwhile wait for that.
            self._worker._bridge_worker.request_workflow_eviction(run_id)


class WholeTasks:
    """Activates one cached run of a workflow."""

    def __init__(self, activate: Activate, history: History, evict: Callable[[], None]) -> None:
        self._activate = activate
        self._history = history
        self._evict = evict
        # The last event that the workflow has acted on, unless its task is known to be completed.
        self._acted_on: int | None = None
        # The event at which each unfinished local activity was asked for.
        self._local_activities: dict[int, int] = {}
        # Queries of the present task that wait for the end of its local activities.
        self._postponed: list[WorkflowActivation] = []
        self._discarded = False

    def __call__(self, activation: WorkflowActivation) -> WorkflowActivationCompletion:
        """Activate the workflow; raise where its decisions could contradict its history."""
        kinds = {job.WhichOneof("variant") for job in activation.jobs}
        if kinds == {"query_workflow"}:
            return self._answer(activation)
        if "remove_from_cache" in kinds:
            return self._activate(activation)
        self._act_on(activation)
        completion = self._activate(activation)
        for command in completion.successful.commands:
            if command.HasField("schedule_local_activity"):
                seq = command.schedule_local_activity.seq
                self._local_activities[seq] = activation.history_length
        if completion.HasField("successful") and not self._local_activities:
            for query in self._postponed:
                completion.successful.commands.extend(self._activate(query).successful.commands)
            self._postponed.clear()
        return completion

    def _answer(self, activation: WorkflowActivation) -> WorkflowActivationCompletion:
        if any(job.query_workflow.query_id == QUERY_WITHOUT_TASK for job in activation.jobs):
            self._judge()
        elif self._local_activities:
            # An answer would end the task, and with it record the end of a local activity that
            # the workflow has not seen.
            self._postponed.append(activation)
            return _nothing_to_do(activation.run_id)
        return self._activate(activation)

    def _judge(self) -> None:
        """Throw the run away after this query, unless its last events had a task."""
        if self._acted_on is not None and not self._history.has_completed(self._acted_on):
            self._discarded = True
            self._evict()
        self._acted_on = None

    def _act_on(self, activation: WorkflowActivation) -> None:
        if self._discarded:
            raise DiscardedRunError("this run was to be evicted after a query")
        if self._was_overtaken(activation.history_length):
            self._discarded = True
            raise DiscardedRunError("the task before this one was not completed")
        if activation.history_length > (self._acted_on or 0):
            # The server gives a query that its task left open to the next one.
            self._postponed.clear()
        for job in activation.jobs:
            if job.HasField("resolve_activity") and job.resolve_activity.is_local:
                self._end_local_activity(job.resolve_activity.seq, activation)
        # What is replayed was completed.
        self._acted_on = None if activation.is_replaying else activation.history_length

    def _was_overtaken(self, events: int) -> bool:
        """Whether events have come before the end of a task that waits for a local activity."""
        if not self._local_activities or self._acted_on is None or events <= self._acted_on:
            return False
        # A long local activity prolongs its task: then one part of it has been completed.
        return not self._history.has_completed(self._acted_on)

    def _end_local_activity(self, seq: int, activation: WorkflowActivation) -> None:
        """A replay ends it in the task that recorded its end; so must the first time."""
        asked_for = self._local_activities.pop(seq, activation.history_length)
        prolonged = asked_for < activation.history_length and not activation.is_replaying
        if prolonged and self._history.may_have_ended(seq, asked_for):
            self._discarded = True
            raise DiscardedRunError("a local activity ended in an earlier task")


class RunHistory:
    """Asks the server about the history of one run, from a workflow's thread."""

    def __init__(
        self, client: Client, workflow_id: str, run_id: str, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._client = client
        self._execution = WorkflowExecution(workflow_id=workflow_id, run_id=run_id)
        self._loop = loop

    def has_completed(self, started: int) -> bool:
        """Whether this worker is known to have completed the task that `started` began."""
        return any(
            event.event_id == started + 1
            and event.workflow_task_completed_event_attributes.started_event_id == started
            and event.workflow_task_completed_event_attributes.identity == self._client.identity
            for event in self._events_after(started) or ()
        )

    def may_have_ended(self, seq: int, after: int) -> bool:
        """Whether the end of a local activity may stand in history, after that event."""
        events = self._events_after(after)
        return events is None or any(
            event.marker_recorded_event_attributes.marker_name == LOCAL_ACTIVITY_MARKER
            and _seq_of(event.marker_recorded_event_attributes) == seq
            for event in events
        )

    def _events_after(self, last: int) -> list[HistoryEvent] | None:
        """The events after that one; None when the server does not answer in time."""
        answer = asyncio.run_coroutine_threadsafe(self._fetch_after(last), self._loop)
        try:
            return answer.result(ASK_WITHIN_S)
        except Exception as error:
            # The run is replayed then, which costs time and nothing else.
            answer.cancel()
            log.warning("the server did not show the history of a run: %r", error)
            return None

    async def _fetch_after(self, last: int) -> list[HistoryEvent]:
        request = GetWorkflowExecutionHistoryReverseRequest(
            namespace=self._client.namespace,
            execution=self._execution,
            maximum_page_size=EVENTS_A_PAGE,
        )
        found: list[HistoryEvent] = []
        while True:
            page = await self._client.workflow_service.get_workflow_execution_history_reverse(
                request, timeout=timedelta(seconds=ASK_WITHIN_S)
            )
            events = page.history.events
            found += [event for event in events if event.event_id > last]
            if not page.next_page_token or not events or events[-1].event_id <= last:
                return found
            request.next_page_token = page.next_page_token


def _seq_of(marker: MarkerRecordedEventAttributes) -> int | None:
    """Which local activity a marker is about."""
    (data,) = marker.details["data"].payloads
    seq: int | None = json.loads(data.data).get("seq")
    return seq


def _nothing_to_do(run_id: str) -> WorkflowActivationCompletion:
    completion = WorkflowActivationCompletion(run_id=run_id)
    completion.successful.SetInParent()
    return completion


def warn_of_untried_sdk() -> None:
    """Say at a worker's start that nobody has tried this runner with the installed SDK."""
    if temporalio.__version__ != TRIED_SDK:
        log.warning(
            "temporalio %s is installed, but Quire was tried with %s: a query that outlives its "
            "worker may leave a document stuck; install the version in constraints.txt",
            temporalio.__version__,
            TRIED_SDK,
        )
