"""Asks the server who serves a queue: by the workers' heartbeats, and by who polled lately."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.enums.v1 import TaskQueueType, WorkerStatus, WorkerVersioningMode
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.worker.v1 import WorkerHeartbeat
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    DescribeTaskQueueResponse,
    ListWorkersRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError

from quire.contracts.names import WORKFLOW_QUEUE
from quire.domain.workers.absence import QueueState
from quire.domain.workers.live_workers import (
    BEAT_S,
    Beat,
    LiveWorker,
    Poll,
    is_doubtful,
    live_workers,
)

ASK_WITHIN = timedelta(seconds=3)
WORKERS_A_PAGE = 1000
PAGES_AT_MOST = 10
# Other programs may share the namespace.
OUR_QUEUES = WORKFLOW_QUEUE
ENDED = (WorkerStatus.WORKER_STATUS_SHUTTING_DOWN, WorkerStatus.WORKER_STATUS_SHUTDOWN)
VERSIONED = WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED


@dataclass(frozen=True)
class _Seen:
    """One worker's last heartbeat, as the server keeps it."""

    beat: Beat
    instance: str
    at: datetime


async def queue_states(client: Client, queues: Collection[str]) -> dict[str, QueueState]:
    """Who serves these queues, and what is known of others of ours by heartbeats.

    Takes some seconds longer where a worker is silent that polled lately: it may be dead, or have
    another clock.
    """
    names = sorted(queues)
    seen, described = await asyncio.gather(
        _heartbeats(client), asyncio.gather(*(_describe(client, name) for name in names))
    )
    answers = dict(zip(names, described, strict=True))
    polls = {queue: _polls(answer) for queue, answer in answers.items()}
    beats = [one.beat for one in seen]
    if any(is_doubtful(polls[queue], _of(beats, queue)) for queue in polls):
        await asyncio.sleep(BEAT_S + 0.5)
        before = {one.instance: one.at for one in seen}
        beats = [
            _moved(one, one.at > before.get(one.instance, one.at))
            for one in await _heartbeats(client)
        ]
    states = {queue: _state(answers[queue], polls[queue], _of(beats, queue)) for queue in answers}
    for queue in sorted({beat.queue for beat in beats} - set(states)):
        states[queue] = QueueState(live=live_workers((), _of(beats, queue)))
    return states


def _of(beats: list[Beat], queue: str) -> list[Beat]:
    return [beat for beat in beats if beat.queue == queue]


def _moved(seen: _Seen, moved: bool) -> Beat:
    beat = seen.beat
    return Beat(beat.worker, beat.queue, beat.age_s, beat.ended, moved)


def _state(answer: DescribeTaskQueueResponse, polls: list[Poll], beats: list[Beat]) -> QueueState:
    reporting = {beat.worker.identity for beat in beats}
    unsure = [poll.age_s for poll in polls if poll.worker.identity not in reporting]
    return QueueState(
        live=live_workers(polls, beats),
        polled_s=min(unsure, default=None),
        current_build=answer.versioning_info.current_deployment_version.build_id,
    )


async def _describe(client: Client, queue: str) -> DescribeTaskQueueResponse:
    workflows = queue == WORKFLOW_QUEUE
    return await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
            if workflows
            else TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        ),
        timeout=ASK_WITHIN,
    )


def _polls(answer: DescribeTaskQueueResponse) -> list[Poll]:
    return [Poll(_poller(poller), _age(poller.last_access_time)) for poller in answer.pollers]


def _poller(poller: PollerInfo) -> LiveWorker:
    options = poller.deployment_options
    versioned = options.worker_versioning_mode == VERSIONED
    return LiveWorker(poller.identity, options.build_id if versioned else "")


async def _heartbeats(client: Client) -> list[_Seen]:
    """The last heartbeat of every worker of ours; none from a server that does not keep them."""
    request = ListWorkersRequest(namespace=client.namespace, page_size=WORKERS_A_PAGE)
    found: list[_Seen] = []
    for _ in range(PAGES_AT_MOST):
        try:
            page = await client.workflow_service.list_workers(request, timeout=ASK_WITHIN)
        except RPCError:
            break
        found += [
            _seen(info.worker_heartbeat)
            for info in page.workers_info
            if info.worker_heartbeat.task_queue.startswith(OUR_QUEUES)
        ]
        request.next_page_token = page.next_page_token
        if not page.next_page_token:
            break
    return found


def _seen(heartbeat: WorkerHeartbeat) -> _Seen:
    version = heartbeat.deployment_version
    # Without a deployment, the SDK reports a build id of its own making.
    build = version.build_id if version.deployment_name else ""
    worker = LiveWorker(heartbeat.worker_identity, build)
    beat = Beat(
        worker,
        heartbeat.task_queue,
        _age(heartbeat.heartbeat_time),
        ended=heartbeat.status in ENDED,
    )
    at = heartbeat.heartbeat_time.ToDatetime(tzinfo=UTC)
    return _Seen(beat, heartbeat.worker_instance_key, at)


def _age(moment: Timestamp) -> float:
    return (datetime.now(UTC) - moment.ToDatetime(tzinfo=UTC)).total_seconds()
