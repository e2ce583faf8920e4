"""The slots of this worker's routes: how many calls may be under way at once."""

import asyncio
from collections.abc import Mapping

from temporalio import activity

from activities.support.failures import crowded_out, handed_back


class Slots:
    """A worker takes up more attempts than a route has slots, so that their pages are drawn
    when a slot falls free. The vendor never sees more than the route's limit."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._free = {route: asyncio.Semaphore(limit) for route, limit in limits.items()}

    async def take(self, route: str, patience_s: float | None) -> None:
        """Take a slot; first come, first served. An impatient attempt makes way for its next
        route, and one that still waits when the worker is told to stop is handed back."""
        free = self._free[route]
        if free.locked():
            await _wait(free, route, patience_s)
        else:
            await free.acquire()

    def give_back(self, route: str) -> None:
        self._free[route].release()


async def _wait(free: asyncio.Semaphore, route: str, patience_s: float | None) -> None:
    turn = asyncio.create_task(free.acquire())
    leaving = asyncio.create_task(activity.wait_for_worker_shutdown())
    try:
        await asyncio.wait({turn, leaving}, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if not turn.done():
            raise handed_back() if leaving.done() else crowded_out(route)
    except BaseException:
        if turn.done() and not turn.cancelled():  # lent and cancelled in the same moment
            free.release()
        turn.cancel()
        raise
    finally:
        leaving.cancel()
