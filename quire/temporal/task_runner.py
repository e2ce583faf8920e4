"""The runner that hands a workflow whole tasks only.

A query that waited for a lost worker reaches the next one with everything that happened since. The
SDK then activates the workflow with those events, though no workflow task has been started for them
yet; the task that follows brings only the rest. Decisions made in between are in no history: every
later replay sees all the events at once, decides otherwise, and the document is stuck. So events
that come without a task are held back until their task comes.

One case passes: a task that brought no event of its own, last before the query, is activated
together with what came after it. It takes two queries to get there, see `quire/jobs/status.py`.
"""

from collections.abc import Callable

from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.worker import (
    UnsandboxedWorkflowRunner,
    WorkflowInstance,
    WorkflowInstanceDetails,
)

Activate = Callable[[WorkflowActivation], WorkflowActivationCompletion]


class WholeTaskRunner(UnsandboxedWorkflowRunner):
    """Runs workflows without a sandbox, a whole task at a time."""

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Make one run of a workflow, which sees whole tasks only."""
        instance = super().create_instance(det)
        whole: Activate = WholeTasks(instance.activate)
        # Assigned, not wrapped: the SDK asks instances for more than it promises of them.
        instance.activate = whole  # type: ignore[assignment, method-assign]
        return instance


class WholeTasks:
    """Activates one run of a workflow."""

    def __init__(self, activate: Activate) -> None:
        self._activate = activate
        self._events = 0
        # What the start of a task sets: how large the history was, and the clock.
        self._size = -1
        self._time = 0
        self._held: list[WorkflowActivationJob] = []

    def __call__(self, activation: WorkflowActivation) -> WorkflowActivationCompletion:
        brings_events = activation.history_length > self._events and _has_events(activation)
        self._events = activation.history_length
        if brings_events and not self._starts_a_task(activation):
            self._held.extend(activation.jobs)
            return _nothing_to_do(activation.run_id)
        if brings_events and self._held:
            # In the order in which they happened, as a replay will see them.
            jobs = [*self._held, *activation.jobs]
            self._held.clear()
            del activation.jobs[:]
            activation.jobs.extend(jobs)
        self._size = activation.history_size_bytes
        # Never back: what a query shows of the clock is not what a local activity made of it.
        self._time = max(self._time, activation.timestamp.ToNanoseconds())
        return self._activate(activation)

    def _starts_a_task(self, activation: WorkflowActivation) -> bool:
        """Whether a workflow task has started. Each sign alone can fail: the end of a local
        activity moves the clock on within a task, a server's clock may step back, and a refused
        update leaves the size as it was."""
        grown = activation.history_size_bytes != self._size
        later = activation.timestamp.ToNanoseconds() > self._time
        return grown or later or any(job.HasField("do_update") for job in activation.jobs)


def _has_events(activation: WorkflowActivation) -> bool:
    """Queries, evictions and the ends of local activities belong to no event that is to come."""
    return any(
        job.WhichOneof("variant") not in {"query_workflow", "remove_from_cache"}
        and not job.resolve_activity.is_local
        for job in activation.jobs
    )


def _nothing_to_do(run_id: str) -> WorkflowActivationCompletion:
    completion = WorkflowActivationCompletion(run_id=run_id)
    completion.successful.SetInParent()
    return completion
