"""What a job waits for that is missing: a pure rule over what the server knows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quire.contracts.names import (
    DOCUMENTS_QUEUE,
    LOCAL_PROVIDER,
    WORKFLOW_QUEUE,
    route_queue,
    setting_name,
)
from quire.domain import errors
from quire.domain.errors import JobWaits
from quire.domain.workers.live_workers import LiveWorker

ROLE_OF = {WORKFLOW_QUEUE: "workflows", DOCUMENTS_QUEUE: "documents"}
# The types of failures by which the SDK, its server and our codec tell what is missing.
UNKNOWN_STEP = "NotFoundError"
NOT_OPENED = errors.SealedError.__name__
DOES_NOT_FIT = "NondeterminismError"


@dataclass(frozen=True)
class Failure:
    """Why a step failed last: the type is readable also where the message is encrypted."""

    type: str
    message: str = ""


@dataclass(frozen=True)
class WaitingTask:
    """A step of a job that no worker has at the moment."""

    queue: str
    step: str
    attempt: int = 1
    failure: Failure | None = None


@dataclass(frozen=True)
class QueueState:
    """Who serves a queue."""

    live: tuple[LiveWorker, ...] = ()
    # How long ago one polled who has not said since whether it lives; None when there is none.
    polled_s: float | None = None
    # The current version of versioned workers; empty where unversioned ones are served.
    current_build: str = ""

    @property
    def builds(self) -> list[str]:
        """The builds of the live workers, also the empty one."""
        return sorted({worker.build for worker in self.live})


@dataclass(frozen=True)
class Deployment:
    """What decides which workers may take a job's steps."""

    name: str
    # The build to which the job is pinned; empty where the current version counts.
    pinned: str = ""


def what_is_missing(
    tasks: Iterable[WaitingTask],
    queues: Mapping[str, QueueState],
    deployment: Deployment,
    providers: Sequence[str],
) -> list[JobWaits]:
    """What these tasks wait for, each thing once; nothing where workers are merely busy."""
    tasks = list(tasks)
    unserved = dict.fromkeys(task.queue for task in tasks if not queues[task.queue].live)
    found = [_unserved(group, queues, providers) for group in _by_provider(unserved, providers)]
    for task in tasks:
        if task.queue not in unserved:
            # A failure counts only while there are workers to repeat it.
            missing = wrong_build(queues[task.queue], deployment) or _of_failure(task)
            found += [missing] if missing else []
    return list({missing.message: missing for missing in found}.values())


def _by_provider(queues: Iterable[str], providers: Sequence[str]) -> list[list[str]]:
    """The queues of one provider's models together, every other one by itself."""
    groups: dict[str, list[str]] = {}
    for queue in queues:
        route = route_of(queue, providers)
        groups.setdefault(route[0] if route else queue, []).append(queue)
    return list(groups.values())


def _unserved(
    group: Sequence[str], queues: Mapping[str, QueueState], providers: Sequence[str]
) -> JobWaits:
    polled = [state.polled_s for queue in group if (state := queues[queue]).polled_s is not None]
    if polled:
        return errors.no_worker_polls(served_by(group[0], providers), min(polled))
    return no_worker(group, queues, providers)


def wrong_build(state: QueueState, deployment: Deployment) -> JobWaits | None:
    """Whether the live workers of a queue are of another build than its tasks need."""
    needed = deployment.pinned or state.current_build
    if needed in state.builds:
        return None
    running = [build for build in state.builds if build]
    if needed:
        return errors.build_not_served(needed, running)
    return errors.build_not_current(running, deployment.name)


def _of_failure(task: WaitingTask) -> JobWaits | None:
    if task.failure is None or task.attempt < 2:
        return None
    if task.failure.type == UNKNOWN_STEP:
        return errors.workers_too_old(task.step)
    if task.failure.type == NOT_OPENED:
        return errors.workers_lack_keys()
    if task.failure.type == DOES_NOT_FIT:
        return errors.history_does_not_fit()
    return errors.step_keeps_failing(task.step, task.attempt - 1, task.failure.message)


def no_worker(
    group: Sequence[str], queues: Mapping[str, QueueState], providers: Sequence[str]
) -> JobWaits:
    """No worker serves these queues: which role, and for models which key, is missing."""
    if group[0] in ROLE_OF:
        return errors.no_worker_with_role(ROLE_OF[group[0]])
    route = route_of(group[0], providers)
    if route is None:
        return errors.no_worker_for_models(group, "the settings of its provider")
    names = [served_by(queue, providers) for queue in group]
    if route[0] == LOCAL_PROVIDER:
        return errors.no_worker_for_models(names, "'quire[ocr]' installed")
    needs = setting_name(route[0], "api_key")
    prefix = route_queue(route[0], "")
    served = [name for name, state in sorted(queues.items()) if state.live]
    others = [served_by(name, providers) for name in served if name.startswith(prefix)]
    return errors.no_worker_for_models(names, needs, others)


def served_by(queue: str, providers: Sequence[str]) -> str:
    """A queue as people know it: a role, or `provider:model`."""
    if queue in ROLE_OF:
        return f"the role {ROLE_OF[queue]}"
    route = route_of(queue, providers)
    return queue if route is None else ":".join(route)


def route_of(queue: str, providers: Sequence[str]) -> tuple[str, str] | None:
    """The provider and model whose queue this is; None when no known provider's."""
    # The longest name first: one provider's name may begin another's.
    for provider in sorted((*providers, LOCAL_PROVIDER), key=len, reverse=True):
        prefix = route_queue(provider, "")
        if queue.startswith(prefix):
            return provider, queue.removeprefix(prefix)
    return None
