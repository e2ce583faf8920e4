"""An event loop in a thread of its own, in somebody else's process.

Temporal's workers run on it whatever the program's own threads and loops do. It must be closed
before the interpreter ends: the SDK's threads crash a process whose interpreter is gone
(sdk-python issue 300), and an embedded server would be left behind.
"""

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401  (see `_before_exit`)
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class LoopThread:
    """Runs coroutines until it is stopped; what still runs then is cancelled."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        # A daemon: others would be waited for before anything could stop them.
        self._thread = threading.Thread(target=self._serve, name="quire-client", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            self._stop = asyncio.Event()
            self._loop.call_soon(self._ready.set)
            runner.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        await self._stop.wait()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the loop; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """End the loop and its thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()


class _Exit:
    """Calls what is open when the program ends without closing it."""

    def __init__(self) -> None:
        self._open: WeakSet[Any] = WeakSet()
        self._registered = False
        self._lock = threading.Lock()

    def add(self, closing: Any) -> None:
        """Close this object before the interpreter ends."""
        with self._lock:
            self._open.add(closing)
            if not self._registered:
                self._registered = True
                _before_exit()(self._close_all)

    def remove(self, closing: Any) -> None:
        """It was closed."""
        with self._lock:
            self._open.discard(closing)

    def _close_all(self) -> None:
        for closing in list(self._open):
            closing.close()


def _before_exit() -> Callable[[Callable[[], None]], object]:
    """How to be called while threads can still work. `atexit` comes later: by then no executor
    takes new work, and workers that are shut down need one.

    The last to register is called first, and executors register when their module is imported.
    """
    register: Callable[[Callable[[], None]], object] | None
    register = getattr(threading, "_register_atexit", None)
    return register or atexit.register


at_exit = _Exit()
