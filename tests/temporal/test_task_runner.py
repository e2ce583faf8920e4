"""A run whose events came before their task is thrown away after the query; no other run is."""

import pytest
from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion

from quire.temporal.task_runner import QUERY_WITHOUT_TASK, DiscardedRunError, WholeTasks


class Run:
    """A cached run, with a server that knows which tasks were completed."""

    def __init__(self) -> None:
        self.completed: set[int] = set()
        self.asked: list[int] = []
        self.evicted = 0
        self.seen: list[str] = []
        self.commands: list[int] = []
        # Local activities whose end is in history.
        self.recorded: set[int] = set()
        self.tasks = WholeTasks(self._activate, self, self._evict)

    def _activate(self, activation: WorkflowActivation) -> WorkflowActivationCompletion:
        self.seen += [job.WhichOneof("variant") or "" for job in activation.jobs]
        completion = WorkflowActivationCompletion(run_id="r")
        completion.successful.SetInParent()
        for job in activation.jobs:
            if job.HasField("query_workflow"):
                answer = completion.successful.commands.add().respond_to_query
                answer.query_id = job.query_workflow.query_id
        for seq in self.commands:
            completion.successful.commands.add().schedule_local_activity.seq = seq
        self.commands.clear()
        return completion

    def has_completed(self, started: int) -> bool:
        """As the server would say."""
        self.asked.append(started)
        return started in self.completed

    def may_have_ended(self, seq: int, after: int) -> bool:
        """As the server would say."""
        return seq in self.recorded

    def _evict(self) -> None:
        self.evicted += 1

    def give(
        self, *jobs: WorkflowActivationJob, events: int, replaying: bool = False
    ) -> WorkflowActivationCompletion:
        activation = WorkflowActivation(
            run_id="r", history_length=events, is_replaying=replaying, jobs=jobs
        )
        return self.tasks(activation)


def ended(seq: int, *, local: bool = False) -> WorkflowActivationJob:
    job = WorkflowActivationJob()
    job.resolve_activity.seq = seq
    job.resolve_activity.is_local = local
    return job


def query(query_id: str = QUERY_WITHOUT_TASK) -> WorkflowActivationJob:
    job = WorkflowActivationJob()
    job.query_workflow.query_id = query_id
    return job


def eviction() -> WorkflowActivationJob:
    job = WorkflowActivationJob()
    job.remove_from_cache.SetInParent()
    return job


def test_run_leaves_the_cache_when_its_events_had_no_task() -> None:
    run = Run()
    run.give(ended(1), events=4, replaying=True)
    run.give(ended(2), events=8)
    run.give(query(), events=8)
    assert run.asked == [8]
    assert run.evicted == 1
    assert run.seen == ["resolve_activity", "resolve_activity", "query_workflow"]
    run.give(eviction(), events=8)


def test_completed_task_is_asked_for_once() -> None:
    run = Run()
    run.completed = {8}
    run.give(ended(1), events=8)
    for _ in range(3):
        run.give(query(), events=8)
    assert run.asked == [8]
    assert run.evicted == 0


def test_queries_after_a_replay_ask_nothing() -> None:
    """A run that was replayed for a query has acted on completed tasks alone."""
    run = Run()
    run.give(ended(1), events=4, replaying=True)
    run.give(query(), events=4)
    run.give(ended(2), events=8, replaying=True)
    run.give(query(), events=8)
    assert run.asked == []
    assert run.evicted == 0


def test_tasks_and_their_own_queries_ask_nothing() -> None:
    run = Run()
    for events in (4, 8, 12):
        run.give(ended(events), events=events)
        run.give(query("by the task"), events=events)
    assert run.asked == []


def test_discarded_run_acts_on_nothing_more() -> None:
    """The SDK evicts it first; were it not to, the task would fail and be replayed."""
    run = Run()
    run.give(ended(1), events=4)
    run.give(query(), events=4)
    run.give(query(), events=4)
    with pytest.raises(DiscardedRunError):
        run.give(ended(2), events=8)
    assert run.seen.count("resolve_activity") == 1
    run.give(eviction(), events=4)
    assert run.seen[-1] == "remove_from_cache"


def test_task_that_was_lost_during_a_local_activity_is_not_built_upon() -> None:
    run = Run()
    run.commands = [1]
    run.give(ended(5), events=4)
    with pytest.raises(DiscardedRunError):
        run.give(ended(1, local=True), ended(6), events=9)
    assert run.asked == [4]


def test_task_that_a_local_activity_prolongs_goes_on() -> None:
    run = Run()
    run.completed = {4}
    run.commands = [1]
    run.give(ended(5), events=4)
    run.give(ended(6), events=9)
    run.give(ended(1, local=True), events=9)
    run.give(ended(7), events=12)
    assert run.asked == [4]
    assert run.evicted == 0


def answers(completion: WorkflowActivationCompletion) -> list[str]:
    commands = completion.successful.commands
    return [c.respond_to_query.query_id for c in commands if c.HasField("respond_to_query")]


def test_query_waits_for_the_local_activities_of_its_task() -> None:
    run = Run()
    run.commands = [1]
    run.give(ended(5), events=4)
    assert answers(run.give(query("early"), events=4)) == []
    run.commands = [2]
    assert answers(run.give(ended(1, local=True), events=4)) == []
    assert answers(run.give(ended(2, local=True), events=4)) == ["early"]
    assert answers(run.give(ended(6), events=8)) == []
    assert answers(run.give(query("late"), events=8)) == ["late"]


def test_query_that_its_task_left_open_comes_again() -> None:
    """A long local activity prolongs its task, and the server gives the query to the next part."""
    run = Run()
    run.completed = {4}
    run.commands = [1]
    run.give(ended(5), events=4)
    run.give(query("early"), events=4)
    run.give(ended(6), events=9)
    run.give(query("early"), events=9)
    assert answers(run.give(ended(1, local=True), events=9)) == ["early"]


def test_local_activity_whose_end_was_recorded_unseen_is_replayed() -> None:
    run = Run()
    run.completed, run.recorded = {4}, {1}
    run.commands = [1]
    run.give(ended(5), events=4)
    with pytest.raises(DiscardedRunError):
        run.give(ended(1, local=True), events=8)


def test_local_activity_that_ends_in_its_task_asks_nothing() -> None:
    run = Run()
    for events in (4, 8):
        run.commands = [events]
        run.give(ended(100 + events), events=events)
        run.give(ended(events, local=True), events=events)
    assert run.asked == []
