"""Threads for calls that block: a small pool for each thing that may be slow, and time limits.

asyncio's own executor is never used for them: it has a handful of threads for the whole process,
so that a few slow downloads would stop every other call, and its threads delay the process's end.
"""

import asyncio
import errno
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import cache, partial
from typing import Any, TypeVar

T = TypeVar("T")

# The time of any call besides what its bytes may take: a connection, retries, a wait for a thread.
BASE_S = 60.0
# The slowest transfer that is still waited for.
BYTES_PER_S = 256 * 1024
# A transfer that moves less than this in this time has come to a halt.
STALL_S = 20.0
STALL_BYTES = 16 * 1024
# A thread that has had nothing to do for so long ends.
IDLE_S = 10.0
LOOK_EVERY_S = 1.0


class Dependency(StrEnum):
    """What a process waits for, and what may be slow without the others."""

    STORE = "store"
    #: Documents on their way to and from the store: apart, since they take longest.
    STORE_FILES = "store files"
    RESULTS = "results"
    ORIGINS = "origins"
    #: Names of hosts that origins are on.
    NAMES = "names"
    CHILDREN = "child processes"
    MODELS = "models"


SIZES = {
    Dependency.STORE: 32,
    Dependency.STORE_FILES: 16,
    Dependency.RESULTS: 16,
    Dependency.ORIGINS: 32,
    Dependency.NAMES: 8,
    Dependency.CHILDREN: 8,
    Dependency.MODELS: 4,
}


class TooSlow(TimeoutError):
    """A call took longer than it may, or nobody waits for it any more."""


class TimeLimit:
    """How long one call may take in all. Ending it early closes what the call is reading from."""

    def __init__(self, seconds: float = BASE_S) -> None:
        self.seconds = seconds
        self._began = time.monotonic()
        self._ended = False
        self._moved: float | None = None
        self._closers: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def allow_bytes(self, count: int) -> None:
        """Give the time that so many bytes take at the slowest rate."""
        self.seconds += count / BYTES_PER_S

    def moved(self) -> None:
        """Note that `STALL_BYTES` have come since the last note: the next must come in time."""
        self.check()
        self._moved = time.monotonic()

    @property
    def stalled(self) -> bool:
        """Whether the transfer has come to a halt."""
        return self._moved is not None and time.monotonic() > self._moved + STALL_S

    def left_s(self) -> float:
        """Seconds that are left; zero or less when the time is up."""
        if self._ended or self.stalled:
            return 0.0
        return self._began + self.seconds - time.monotonic()

    def check(self) -> None:
        """Raise `TooSlow` when the time is up."""
        if self.left_s() <= 0:
            raise self.too_slow()

    def too_slow(self) -> TooSlow:
        """What to raise when the time is up."""
        if self.stalled:
            return TooSlow(errno.ETIMEDOUT, f"nothing came for {STALL_S:.0f} seconds")
        return TooSlow(errno.ETIMEDOUT, f"it took longer than {self.seconds:.0f} seconds")

    @contextmanager
    def closing(self, close: Callable[[], object]) -> Iterator[None]:
        """While the block runs, the end of the limit closes something that it waits for. What the
        block then raises is only a consequence."""
        with self._lock:
            self._closers.append(close)
        try:
            self.check()
            yield
        except Exception as error:
            if self.left_s() <= 0 and not isinstance(error, TooSlow):
                raise self.too_slow() from error
            raise
        finally:
            with self._lock:
                self._closers.remove(close)

    def end(self) -> None:
        """The time is up, or nobody waits any more."""
        with self._lock:
            self._ended = True
            for close in self._closers:
                with suppress(Exception):  # it has just ended by itself
                    close()


class ThreadPool:
    """At most `size` threads, started when they are needed. They never delay the process's end:
    what they write appears whole or not at all."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._waiting: deque[tuple[float, Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._threads = self._idle = 0

    @property
    def busy(self) -> int:
        """The number of threads that are in a call."""
        with self._changed:
            return self._threads - self._idle

    def delay_s(self) -> float:
        """How long the first of the waiting calls has been waiting for a thread."""
        with self._changed:
            return time.monotonic() - self._waiting[0][0] if self._waiting else 0.0

    async def run(self, call: Callable[..., T], *args: object, limit: TimeLimit | None = None) -> T:
        """Run the call in a thread. After the limit `TooSlow` is raised whatever the thread does;
        the limit then ends, also when the caller is cancelled, so that the thread does too."""
        limit = limit or TimeLimit()
        future = self._submit(partial(call, *args))
        waiting = asyncio.wrap_future(future)
        try:
            while not waiting.done():
                # The call may have been given more time meanwhile, or may have come to a halt.
                if limit.left_s() <= 0:
                    raise limit.too_slow()
                await asyncio.wait({waiting}, timeout=min(LOOK_EVERY_S, limit.left_s()))
            return waiting.result()
        finally:
            if not waiting.done():
                # How it ends no longer matters; unasked, asyncio would log it as an error.
                waiting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
                waiting.cancel()
                self._forget(future)
                limit.end()

    def _submit(self, call: Callable[[], T]) -> "Future[T]":
        future: Future[T] = Future()
        with self._changed:
            self._waiting.append((time.monotonic(), future, call))
            if self._idle >= len(self._waiting):
                self._changed.notify()
            elif self._threads < self.size:
                self._threads += 1
                name = f"quire-{self.name}".replace(" ", "-")
                threading.Thread(target=self._work, name=name, daemon=True).start()
        return future

    def _forget(self, future: "Future[Any]") -> None:
        """Let go of a call that no thread has begun, and of the bytes that it holds."""
        with self._changed:
            self._waiting = deque(entry for entry in self._waiting if entry[1] is not future)

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            future, call = taken
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = call()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
            del taken, future, call

    def _take(self) -> tuple["Future[Any]", Callable[[], Any]] | None:
        """The next call; None when there was none for a while, and the thread ends."""
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._waiting, IDLE_S)
            self._idle -= 1
            if not self._waiting:
                self._threads -= 1
                return None
            _, future, call = self._waiting.popleft()
            return future, call


@cache
def threads_of(dependency: Dependency) -> ThreadPool:
    """The one pool of this process for this dependency."""
    return ThreadPool(dependency.value, SIZES[dependency])


def store_threads(dependency: Dependency) -> tuple[ThreadPool, ThreadPool]:
    """The pools of a store for its small objects and for its files."""
    of_store = dependency is Dependency.STORE
    files = Dependency.STORE_FILES if of_store else dependency
    return threads_of(dependency), threads_of(files)


def longest_delay() -> tuple[str, float]:
    """The pool whose calls wait longest for a thread, and how long, in seconds."""
    pools = [threads_of(dependency) for dependency in Dependency]
    return max(((pool.name, pool.delay_s()) for pool in pools), key=lambda found: found[1])
