"""What both clients stand on: one connection, opened by the first call, in a thread of its own."""

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from quire.client.loop_thread import LoopThread, at_exit
from quire.domain.errors import DiskFull, QuireError, UsageError, with_folder
from quire.jobs.session import Jobs, open_jobs, temporal_errors
from quire.settings import Settings

T = TypeVar("T")
# Their warnings would be printed in a program that has not set up logging.
LOGGERS = ("quire", "temporalio")
# How long a call that was given up may take to end.
UNWIND_S = 0.05


def closed() -> UsageError:
    """The refusal of a client that was closed."""
    return UsageError("The client is closed.", "Make a new one.")


class Engine:
    """Opens the connection once, runs the work of calls on it, and closes it in order."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._thread: LoopThread | None = None
        self._jobs: Jobs | None = None
        self._stack = AsyncExitStack()
        self._opening: asyncio.Lock | None = None
        self._lock = threading.RLock()
        self._closed = False
        self._pid = os.getpid()

    def start(self, work: Callable[[Jobs], Awaitable[T]]) -> Future[T]:
        """Begin work that needs the server."""

        async def connected() -> T:
            return await work(await self._connection())

        return self.start_alone(connected)

    def start_alone(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Begin work that needs no server."""
        if os.getpid() != self._pid:
            # Threads and connections do not survive a fork: a call would wait for ever.
            raise UsageError(
                "The client was made before this process was forked.",
                "Make a client in each process.",
            )
        with self._lock:
            if self._closed:
                raise closed()
            if self._thread is None:
                for name in LOGGERS:
                    logging.getLogger(name).addHandler(logging.NullHandler())
                self._thread = LoopThread()
                at_exit.add(self)
            return self._thread.start(_explained(self.settings, work))

    async def _connection(self) -> Jobs:
        self._opening = self._opening or asyncio.Lock()
        async with self._opening:
            if self._jobs is None:
                opening = open_jobs(self.settings, process_continues=True)
                self._jobs = await self._stack.enter_async_context(opening)
            return self._jobs

    @property
    def is_closed(self) -> bool:
        """Whether calls are refused."""
        return self._closed

    def close(self) -> None:
        """End workers, connection and thread, and the embedded server if no one else uses it.

        Jobs that run are kept by their server. A second call does nothing, nor does one in a
        forked process, whose parent still uses them.
        """
        if os.getpid() != self._pid:
            return
        with self._lock:
            self._closed, thread, self._thread = True, self._thread, None
        if thread is None:
            return
        at_exit.remove(self)
        try:
            thread.start(self._leave()).result()
        finally:
            thread.stop()

    async def _leave(self) -> None:
        """Calls first, then what they stand on."""
        mine = asyncio.current_task()
        calls = [task for task in asyncio.all_tasks() if task.get_name() == CALL and task != mine]
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await self._stack.aclose()
        # The SDK's threads report the end of a cancelled call to Python, a moment later.
        await asyncio.sleep(UNWIND_S)


CALL = "quire-call"


async def _explained(settings: Settings, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """An error of ours with its remedy below it, where a traceback is printed."""
    task = asyncio.current_task()
    if task is not None:
        task.set_name(CALL)
    try:
        with temporal_errors(settings):
            return await work()
    except DiskFull as error:
        named = with_folder(error)
        named.add_note(named.remedy)
        raise named from None
    except QuireError as error:
        if error.remedy not in getattr(error, "__notes__", ()):
            error.add_note(error.remedy)
        raise
