"""Health and readiness of a worker, over HTTP, for orchestrators and load balancers."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

# Why the worker is not ready; empty when it is.
Check = Callable[[], Awaitable[str]]
# A worker that is later than this with what is due should get no more work.
SLOW_S = 5.0
_MEASURE_EVERY_S = 0.5
# While the loop stands still nobody can ask: it stays known for so long.
_REMEMBER_S = 15.0


class LoopDelay:
    """How late the event loop is with what is due: something blocks it, or the machine is busy."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    async def measure(self) -> None:
        """Measure until cancelled."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(_MEASURE_EVERY_S)
            now = time.monotonic()
            self._seen.append((now, now - began - _MEASURE_EVERY_S))
            while self._seen[0][0] < now - _REMEMBER_S:
                self._seen.popleft()

    def worst_s(self) -> float:
        """The longest delay of the last moments."""
        return max((late for _, late in self._seen), default=0.0)


def why_slow(loop_s: float, pool: str, pool_s: float) -> str:
    """Why a worker is too slow to be ready; empty when it is not. `pool` are the threads for which
    a call has been waiting longest, and `pool_s` how long."""
    if loop_s > SLOW_S:
        return f"its event loop was {loop_s:.0f} s late"
    if pool_s > SLOW_S:
        return f"every thread for {pool} is taken: a call has been waiting {pool_s:.0f} s"
    return ""


class HealthServer:
    """`/healthz`: the process and its loop live. `/readyz`: it can take work."""

    def __init__(self, address: str, check: Check) -> None:
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._check = check
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen; raises `OSError` when the address is taken."""
        self._server = await asyncio.start_server(self._serve, self._host.strip("[]"), self._port)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError, IndexError):
            async with asyncio.timeout(10):
                path = (await reader.readline()).split()[1].decode("ascii", "replace")
                while (await reader.readline()).strip():
                    pass
                writer.write(await self._answer(path))
                await writer.drain()
        writer.close()

    async def _answer(self, path: str) -> bytes:
        if path == "/healthz":
            return _response(200, "OK", {"status": "alive"})
        if path != "/readyz":
            return _response(404, "Not Found", {"status": "not found"})
        problem = await self._check()
        if problem:
            return _response(503, "Service Unavailable", {"status": "not ready", "reason": problem})
        return _response(200, "OK", {"status": "ready"})


def _response(code: int, phrase: str, body: dict[str, str]) -> bytes:
    data = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {code} {phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + data
