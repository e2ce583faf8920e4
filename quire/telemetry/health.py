"""Health and readiness of a worker, over HTTP, for orchestrators and load balancers."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

# Why the worker is not ready; empty when it is.
Check = Callable[[], Awaitable[str]]


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
