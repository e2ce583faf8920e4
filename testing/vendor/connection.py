"""As much HTTP/1.1 as a vendor's SDK needs, with every misbehaviour within reach.

A web framework was rejected: it answers 500 where a connection should
be reset, waits for hanging handlers at shutdown, and costs more time than the call it serves.
"""

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class Request:
    """A request, read to its end."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


class ClientGone(Exception):
    """The caller hung up before it was answered."""


class Exchange:
    """One request and the means to answer it, well or badly."""

    def __init__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self.status: int | None = None
        self._writer = writer

    async def respond(
        self,
        status: int,
        body: bytes | dict[str, Any] | list[Any],
        headers: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> None:
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_head(status, {"content-length": str(len(body)), **(headers or {})}, content_type)
        self._writer.write(body)
        await self._writer.drain()

    def send_head(
        self, status: int, headers: dict[str, str], content_type: str = "application/json"
    ) -> None:
        self.status = status
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
        lines += [f"{k}: {v}" for k, v in {"content-type": content_type, **headers}.items()]
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def send_raw(self, data: bytes) -> None:
        """Bytes as they are, where even the head is to be wrong."""
        self._writer.write(data)
        await self._writer.drain()

    async def send_chunk(self, data: bytes) -> None:
        """A piece of a chunked body; an empty one ends it."""
        self._writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self._writer.drain()

    def cut(self) -> None:
        """Reset the connection, as a crashed vendor or a rude proxy does."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.close()


Handler = Callable[[Exchange], Awaitable[None]]


async def serve_connection(
    handle: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve one connection's requests, one after the other."""
    # Without it the second small write of an answer waits for the client's delayed ACK.
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while not writer.is_closing():
            request = await _read_request(reader, writer)
            await _handle_while_listened_to(handle, Exchange(request, writer), reader)
    except (asyncio.IncompleteReadError, ConnectionError, ClientGone):
        pass  # the client is gone: nobody is left to answer
    finally:
        with contextlib.suppress(ConnectionError, RuntimeError):
            writer.close()


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = {}
    for line in head[1:-2]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    return Request(method, path, query, headers, body)


async def _handle_while_listened_to(
    handle: Handler, exchange: Exchange, reader: asyncio.StreamReader
) -> None:
    """Run the handler, and stop it when the client hangs up: that is how aborts are seen."""
    work = asyncio.ensure_future(handle(exchange))
    # Clients here never send the next request before the answer: a read means the end.
    hangup = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({work, hangup}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientGone
        await work
    finally:
        for task in (work, hangup):
            task.cancel()
        await asyncio.gather(work, hangup, return_exceptions=True)
