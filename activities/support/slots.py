"""The slots of this worker's routes: how many calls may be under way at once."""

import asyncio
from collections.abc import Mapping

from temporalio import activity

from activities.support.failures import crowded_out, handed_back


class Slots:
    """Limits the calls under way on each route. A worker accepts more attempts than a route has
    slots, so that their pages are already drawn when a slot becomes free."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._free = {route: asyncio.Semaphore(limit) for route, limit in limits.items()}

    async def take(self, route: str, patience_s: float | None) -> None:
        """Take a slot; first come, first served. Without one after `patience_s` the attempt goes
        to its next route; when the worker stops, a waiting attempt is handed back."""
        free = self._free[route]
        if free.locked():
            await _wait(free, route, patience_s)
        else:
            await free.acquire()

    def give_back(self, route: str) -> None:
        """Free the slot for the next attempt."""
        self._free[route].release()


async def _wait(free: asyncio.Semaphore, route: str, patience_s: float | None) -> None:
    turn = asyncio.create_task(free.acquire())
    leaving = asyncio.create_task(activity.wait_for_worker_shutdown())
    try:
        await asyncio.wait({turn, leaving}, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if not turn.done():
            raise handed_back() if leaving.done() else crowded_out(route)
    except BaseException:
        if turn.done() and not turn.cancelled():  # taken and cancelled at the same moment
            free.release()
        turn.cancel()
        raise
    finally:
        leaving.cancel()
