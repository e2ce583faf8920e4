"""Child processes on loan: each runs one call at a time, within a time limit, and may be lost.

Every child is a Pebble pool of one. A shared pool would be cheaper to write, but one child
killed while it answers leaves the pool's locks taken for all others, and one killed while
idle ends the whole pool. So whenever a child does not simply answer, its pool is thrown away
and the next call gets a fresh one.
"""

import asyncio
import threading
from collections import deque
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from quire.pdf import forking

# A child that was told nothing and starts on a busy machine may take this long to begin.
_START_ALLOWANCE_S = 30.0
# MuPDF fragments its heap over time; a new child costs up to 200 ms that a page waits for.
_CALLS_PER_CHILD = 1000
# So many others go before a patient caller, while one waits: a document with many slow pages must
# not keep another one's survey waiting until its deadline, with no text at hand.
_BEFORE_A_PATIENT_ONE = 4


class ChildHung(Exception):
    """The call took longer than allowed; the child was killed."""


class ChildLost(Exception):
    """The child died during the call: it crashed, or something killed it."""


class ChildStarved(Exception):
    """The call needed more memory than a child may have."""


def call(name: str, *args: object) -> Any:
    """Runs in the child. By name, since the parent must never import MuPDF."""
    from quire.pdf import child

    return getattr(child, name)(*args)


class Children:
    """At most `processes` children, started when needed; the one used last is lent first."""

    def __init__(self, processes: int, memory_bytes: int) -> None:
        self._all = [_Child(memory_bytes, self) for _ in range(max(1, processes))]
        self._idle = list(self._all)
        # Patient callers come after all others: a survey must not hold up what models wait for.
        self._waiting: deque[asyncio.Future[_Child]] = deque()
        self._patient: deque[asyncio.Future[_Child]] = deque()
        self._went_before = 0
        self._closed = False

    def warm_up(self) -> None:
        """Start one child in the background."""
        threading.Thread(target=self._all[-1].start, name="quire-warm-up", daemon=True).start()

    async def run(self, name: str, *args: object, timeout_s: float, patient: bool = False) -> Any:
        """One call in one child; raises what the call raises, or one of the Child errors."""
        child = await self._borrow(self._patient if patient else self._waiting)
        try:
            return await child.run(name, args, timeout_s)
        finally:
            self._give_back(child)

    async def _borrow(self, queue: "deque[asyncio.Future[_Child]]") -> "_Child":
        if self._closed:
            raise RuntimeError("Documents is closed")
        if self._idle:
            return self._idle.pop()
        turn: asyncio.Future[_Child] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # lent and cancelled in the same moment
                self._give_back(turn.result())
            raise

    def _give_back(self, child: "_Child") -> None:
        while self._waiting or self._patient:
            due = self._patient and self._went_before >= _BEFORE_A_PATIENT_ONE
            queue = self._patient if due or not self._waiting else self._waiting
            turn = queue.popleft()
            if turn.done():
                continue
            before = queue is self._waiting and self._patient
            self._went_before = self._went_before + 1 if before else 0
            turn.set_result(child)
            return
        self._idle.append(child)

    def close(self) -> None:
        """Kill every child and wait until they are gone."""
        self._closed = True
        for thread in [child.discard() for child in self._all]:
            if thread is not None:
                thread.join(timeout=10)
        forking.done_with(self)


class _Child:
    """One process, replaced as often as it is lost."""

    def __init__(self, memory_bytes: int, family: object) -> None:
        self._memory_bytes = memory_bytes
        self._family = family
        self._pool: ProcessPool | None = None
        self._lock = threading.Lock()

    def start(self) -> ProcessPool:
        """Blocks until the process exists (not until it is ready): never on the event loop."""
        with self._lock:
            if self._pool is None:
                self._pool = ProcessPool(
                    max_workers=1,
                    max_tasks=_CALLS_PER_CHILD,
                    initializer=call,
                    initargs=("start", self._memory_bytes),
                    context=forking.context(self._family),
                )
            self._pool.active  # noqa: B018  (asking is what starts it)
            return self._pool

    async def run(self, name: str, args: tuple[object, ...], timeout_s: float) -> Any:
        pool = self._pool
        if pool is None:
            pool = await asyncio.to_thread(self.start)
        future: ProcessFuture[Any] | None = None
        try:
            async with asyncio.timeout(timeout_s + _START_ALLOWANCE_S):
                future = _schedule(pool, name, args, timeout_s)
                return await asyncio.wrap_future(future)
        except TimeoutError:
            self.discard()
            raise ChildHung from None
        except (ProcessExpired, BrokenProcessPool):
            self.discard()
            raise ChildLost from None
        except MemoryError:
            self.discard()
            raise ChildStarved from None
        except asyncio.CancelledError:
            self.discard()
            raise

    def discard(self) -> threading.Thread | None:
        """Kill the process, in the background: Pebble takes a tenth of a second over it."""
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
    except RuntimeError:  # Pebble's word for a pool whose child died while idle
        raise BrokenProcessPool from None


def _end(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
