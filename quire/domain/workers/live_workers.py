"""Which workers of a queue are alive, from what a server remembers of them.

A server remembers a poller for five minutes after its death, and shows when it polled last: a
worker that waits polls again every minute, one whose slots are taken not before one falls free. So
the heartbeats of workers count, and polls only for workers that send none.
"""

from collections.abc import Iterable
from dataclasses import dataclass

# How often our workers report that they are alive.
BEAT_S = 3.0
# Two beats may be late or lost.
SILENT_S = 7.0
# A worker that waits for tasks polls again every minute.
POLL_S = 70.0


@dataclass(frozen=True, order=True)
class LiveWorker:
    """A process that serves a queue; `build` is empty without worker versioning."""

    identity: str
    build: str = ""


@dataclass(frozen=True)
class Poll:
    """When a worker last asked for tasks. Ages may be below zero: clocks differ."""

    worker: LiveWorker
    age_s: float


@dataclass(frozen=True)
class Beat:
    """A worker's last report on one queue; `moved` when a second look found a newer one."""

    worker: LiveWorker
    queue: str
    age_s: float
    ended: bool = False
    moved: bool = False

    @property
    def fresh(self) -> bool:
        """Whether the worker is alive."""
        return not self.ended and (self.moved or abs(self.age_s) <= SILENT_S)


def live_workers(polls: Iterable[Poll], beats: Iterable[Beat]) -> tuple[LiveWorker, ...]:
    """The workers of a queue that are alive."""
    beats = list(beats)
    alive = {beat.worker for beat in beats if beat.fresh}
    reporting = {beat.worker.identity for beat in beats}
    polling = {
        poll.worker
        for poll in polls
        if poll.age_s <= POLL_S and poll.worker.identity not in reporting
    }
    return tuple(sorted(alive | polling))


def is_doubtful(polls: Iterable[Poll], beats: Iterable[Beat]) -> bool:
    """Whether a second look could show that a silent worker lives, on a machine whose clock
    differs from ours."""
    remembered = {poll.worker.identity for poll in polls}
    return any(
        not beat.fresh and not beat.ended and beat.worker.identity in remembered for beat in beats
    )
