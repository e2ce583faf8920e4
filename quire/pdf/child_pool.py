"""A pool of child processes: each runs one call at a time within a time limit, and may die.

Every child is a Pebble pool of one. A shared pool would be cheaper to write, but one child
killed while it answers leaves the pool's locks taken for all others, and one killed while
idle ends the whole pool. So whenever a child does not answer, its Pebble pool is discarded, and
the next call starts a new one.
"""

import asyncio
import threading
from collections import deque
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from quire.pdf import fork_server
from quire.threads import Dependency, threads_of

# A new child on a busy machine may take this long to start its first call.
_START_ALLOWANCE_S = 30.0
# The call that touches no document.
_READY = "ready"
# MuPDF fragments its heap over time; replacing a child makes a page wait up to 200 ms.
_CALLS_PER_CHILD = 1000
# How many urgent calls may overtake a patient one: a document with many slow pages must not hold
# up another document's survey until its deadline.
_URGENT_IN_A_ROW = 4


class ChildTimedOut(Exception):
    """The call took longer than allowed; the child was killed."""


class ChildDied(Exception):
    """The child died during the call: it crashed or was killed."""


class ChildCannotStart(Exception):
    """No child comes to life, with this document or without: the fault is ours."""


class ChildOutOfMemory(Exception):
    """The call needed more memory than a child may have."""


def call(name: str, *args: object) -> Any:
    """Call a function of `child_process`, in the child; by name, as the parent must not import
    MuPDF."""
    from quire.pdf import child_process

    return getattr(child_process, name)(*args)


class ChildPool:
    """At most `processes` children, started when needed; the one used last is used first."""

    def __init__(self, processes: int, memory_bytes: int) -> None:
        self._all = [_Child(memory_bytes, self) for _ in range(max(1, processes))]
        self._idle = list(self._all)
        # Patient calls come after urgent ones: a survey must not delay drawings that models need.
        self._urgent: deque[asyncio.Future[_Child]] = deque()
        self._patient: deque[asyncio.Future[_Child]] = deque()
        self._overtaken = 0
        self._closed = False

    def warm_up(self) -> None:
        """Start one child in the background."""
        threading.Thread(target=self._all[-1].start, name="quire-warm-up", daemon=True).start()

    async def run(self, name: str, *args: object, timeout_s: float, patient: bool = False) -> Any:
        """Run one call in one child; raises what the call raises, or one of the Child errors."""
        child = await self._acquire(self._patient if patient else self._urgent)
        try:
            return await child.run(name, args, timeout_s)
        finally:
            self._release(child)

    async def _acquire(self, queue: "deque[asyncio.Future[_Child]]") -> "_Child":
        if self._closed:
            raise RuntimeError("the pool of child processes is closed")
        if self._idle:
            return self._idle.pop()
        turn: asyncio.Future[_Child] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # acquired and cancelled at the same moment
                self._release(turn.result())
            raise

    def _release(self, child: "_Child") -> None:
        while self._urgent or self._patient:
            due = self._patient and self._overtaken >= _URGENT_IN_A_ROW
            queue = self._patient if due or not self._urgent else self._urgent
            turn = queue.popleft()
            if turn.done():
                continue
            overtakes = queue is self._urgent and self._patient
            self._overtaken = self._overtaken + 1 if overtakes else 0
            turn.set_result(child)
            return
        self._idle.append(child)

    def close(self) -> None:
        """Kill every child and wait until they are gone."""
        self._closed = True
        for thread in [child.discard() for child in self._all]:
            if thread is not None:
                thread.join(timeout=10)
        fork_server.release(self)


class _Child:
    """One process, replaced whenever it dies."""

    def __init__(self, memory_bytes: int, user: object) -> None:
        self._memory_bytes = memory_bytes
        self._user = user
        self._pool: ProcessPool | None = None
        self._lock = threading.Lock()

    def start(self) -> ProcessPool:
        """Start the process if there is none. Blocks until it exists: never on the event loop."""
        with self._lock:
            if self._pool is None:
                self._pool = ProcessPool(
                    max_workers=1,
                    max_tasks=_CALLS_PER_CHILD,
                    initializer=call,
                    initargs=("start", self._memory_bytes),
                    context=fork_server.fork_context(self._user),
                )
            self._pool.active  # noqa: B018  (reading it starts the process)
            return self._pool

    async def run(self, name: str, args: tuple[object, ...], timeout_s: float) -> Any:
        try:
            pool = self._pool
            if pool is None:
                pool = await threads_of(Dependency.CHILDREN).run(self.start)
            async with asyncio.timeout(timeout_s + _START_ALLOWANCE_S):
                return await asyncio.wrap_future(_schedule(pool, name, args, timeout_s))
        except TimeoutError:
            self.discard()
            raise ChildTimedOut from None
        except ProcessExpired:
            self.discard()
            raise ChildDied from None
        except BrokenProcessPool:
            # It died before it took the call, or in the very moment: can any child start?
            self.discard()
            if name == _READY:
                raise ChildCannotStart from None
            await self.run(_READY, (), _START_ALLOWANCE_S)
            raise ChildDied from None
        except MemoryError:
            self.discard()
            raise ChildOutOfMemory from None
        except asyncio.CancelledError:
            self.discard()
            raise

    def discard(self) -> threading.Thread | None:
        """Kill the process in the background: Pebble takes a tenth of a second for it."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is None:
            return None
        thread = threading.Thread(target=_end, args=(pool,), name="quire-discard", daemon=True)
        thread.start()
        return thread


def _schedule(
    pool: ProcessPool, name: str, args: tuple[object, ...], timeout_s: float
) -> ProcessFuture[Any]:
    try:
        return pool.schedule(call, args=(name, *args), timeout=timeout_s)
    except RuntimeError:  # how Pebble reports a pool whose child died while idle
        raise BrokenProcessPool from None


def _end(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
