"""What comes without a workflow task waits for its task; nothing else waits."""

import pytest
from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion

from quire.temporal.task_runner import WholeTasks

Seen = list[list[str]]


def activation(
    *jobs: WorkflowActivationJob, task: int, events: int, late_ms: int = 0
) -> WorkflowActivation:
    made = WorkflowActivation(run_id="r", history_length=events, history_size_bytes=task * 100)
    made.timestamp.FromMilliseconds(task * 1000 + late_ms)
    made.jobs.extend(jobs)
    return made


def ended(seq: int, *, local: bool = False) -> WorkflowActivationJob:
    job = WorkflowActivationJob()
    job.resolve_activity.seq = seq
    job.resolve_activity.is_local = local
    return job


def asked(name: str) -> WorkflowActivationJob:
    job = WorkflowActivationJob()
    job.query_workflow.query_id = name
    return job


def requested() -> WorkflowActivationJob:
    job = WorkflowActivationJob()
    job.do_update.id = "wish"
    return job


def evicted() -> WorkflowActivation:
    made = WorkflowActivation(run_id="r")
    made.jobs.add().remove_from_cache.SetInParent()
    return made


def name_of(job: WorkflowActivationJob) -> str:
    kind = job.WhichOneof("variant") or ""
    return str(job.resolve_activity.seq) if kind == "resolve_activity" else kind


def watched() -> tuple[WholeTasks, Seen]:
    seen: Seen = []

    def activate(made: WorkflowActivation) -> WorkflowActivationCompletion:
        seen.append([name_of(job) for job in made.jobs])
        return WorkflowActivationCompletion(run_id="ran")

    return WholeTasks(activate), seen


def test_events_without_a_task_wait_for_it() -> None:
    whole, seen = watched()
    whole(activation(ended(1), task=1, events=3))
    held = whole(activation(ended(2), ended(3), task=1, events=8))
    assert held.HasField("successful")
    assert not held.successful.commands
    assert held.run_id == "r"
    whole(activation(asked("status"), task=1, events=8))
    whole(activation(ended(4), task=1, events=10))
    whole(activation(asked("status"), task=1, events=10))
    whole(activation(ended(5), task=2, events=12))
    whole(activation(ended(6), task=3, events=15))
    questions = [["query_workflow"]] * 2
    assert seen == [["1"], *questions, ["2", "3", "4", "5"], ["6"]]


def test_what_belongs_to_a_task_is_not_held() -> None:
    whole, seen = watched()
    whole(activation(ended(1), task=1, events=3))
    # A local activity's end moves the clock on; a cancelled activity echoes within the task.
    whole(activation(ended(2, local=True), task=1, events=3, late_ms=5))
    whole(activation(ended(3), task=1, events=3, late_ms=5))
    # A question may tell of events that bring no job, before a local activity ends.
    whole(activation(asked("status"), task=1, events=5, late_ms=5))
    whole(activation(ended(4, local=True), task=1, events=5, late_ms=5))
    assert seen == [["1"], ["2"], ["3"], ["query_workflow"], ["4"]]


@pytest.mark.parametrize("late_ms", [0, 5])
def test_events_after_a_local_activity_wait_too(late_ms: int) -> None:
    """Whether the clock stays where that moved it, or is set back to the task's start."""
    whole, seen = watched()
    whole(activation(ended(1), task=1, events=3))
    whole(activation(ended(2, local=True), task=1, events=3, late_ms=5))
    whole(activation(asked("status"), task=1, events=3))
    whole(activation(ended(3), task=1, events=6, late_ms=late_ms))
    whole(activation(ended(4), task=2, events=9))
    assert seen == [["1"], ["2"], ["query_workflow"], ["3", "4"]]


def test_eviction_takes_nothing_along() -> None:
    whole, seen = watched()
    whole(activation(ended(1), task=1, events=3))
    whole(activation(ended(2), task=1, events=6))
    whole(evicted())
    assert seen == [["1"], ["remove_from_cache"]]


def test_tasks_are_told_apart_when_clocks_step_back() -> None:
    whole, seen = watched()
    whole(activation(ended(1), task=1, events=3))
    whole(activation(ended(2), task=2, events=6, late_ms=-1000))
    assert seen == [["1"], ["2"]]


def test_tasks_are_told_apart_where_a_server_tells_no_size() -> None:
    whole, seen = watched()
    for made in (
        activation(ended(1), task=1, events=3),
        activation(ended(2), task=1, events=6),
        activation(ended(3), task=2, events=9),
    ):
        made.history_size_bytes = 0
        whole(made)
    assert seen == [["1"], ["2", "3"]]


def test_updates_are_never_held() -> None:
    """One that is refused leaves no events behind: the next task begins where its did."""
    whole, seen = watched()
    whole(activation(ended(1), task=1, events=3))
    for _ in range(2):
        whole(activation(requested(), task=2, events=7))
        whole(activation(asked("status"), task=2, events=5))
    whole(activation(ended(2), task=2, events=7))
    whole(activation(ended(3), task=3, events=10))
    refused = [["do_update"], ["query_workflow"]]
    assert seen == [["1"], *refused, *refused, ["2", "3"]]


def test_task_after_a_refused_update_is_not_held() -> None:
    whole, seen = watched()
    whole(activation(requested(), task=1, events=7))
    # The size is still that of the update's task, which was not kept.
    whole(activation(ended(1), task=1, events=9, late_ms=20))
    assert seen == [["do_update"], ["1"]]
