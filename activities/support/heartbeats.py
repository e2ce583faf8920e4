"""Heartbeats while an activity works: they carry life out and cancellation in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import activity

HEARTBEAT_EVERY_S = 2.0


@asynccontextmanager
async def heartbeats(*details: object) -> AsyncIterator[None]:
    """Beat until the block ends."""

    async def beat() -> None:
        # The start itself was a sign of life: what is short needs no beat, and each one is a
        # write of the server.
        while True:
            await asyncio.sleep(HEARTBEAT_EVERY_S)
            activity.heartbeat(*details)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
