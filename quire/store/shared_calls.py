"""One call for all that wait for the same thing at the same time."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass
class _Shared(Generic[T]):
    task: "asyncio.Task[T]"
    waiting: int = 0


class SharedCalls(Generic[T]):
    """A call goes on while anyone waits for it, and is cancelled when the last one leaves."""

    def __init__(self) -> None:
        self._running: dict[str, _Shared[T]] = {}

    async def run(self, key: str, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the running call of this key, or of a new one."""
        shared = self._running.get(key)
        if shared is None or shared.task.done():
            shared = self._running[key] = _Shared(asyncio.create_task(start()))
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                shared.task.cancel()
                if self._running.get(key) is shared:
                    del self._running[key]
