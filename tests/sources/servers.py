"""Web servers on loopback that misbehave, each named after its fault."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Answer = Callable[[asyncio.StreamWriter, str], Awaitable[None]]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """The URL of a server that answers every request so."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            await answer(writer, head)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def server_sends(body: bytes, *headers: str, status: str = "200 OK") -> Answer:
    async def answer(writer: asyncio.StreamWriter, head: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)

    return answer


def server_drips(body: bytes = b"%PDF-1.7\n") -> Answer:
    """One byte now and then, for ever: every single read is in time."""

    async def answer(writer: asyncio.StreamWriter, head: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body)
        while True:
            await asyncio.sleep(0.05)
            writer.write(b".")
            await writer.drain()

    return answer


def server_promises_more_than_it_sends(body: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter, head: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n" + body)

    return answer


def server_hides_its_length(size: int) -> Answer:
    """Says a few bytes and sends many more, without end to speak of."""

    async def answer(writer: asyncio.StreamWriter, head: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%PDF-1.7\n")
        for _ in range(size // 65536):
            writer.write(b"x" * 65536)
            await writer.drain()

    return answer


def server_never_answers() -> Answer:
    async def answer(writer: asyncio.StreamWriter, head: str) -> None:
        await asyncio.sleep(3600)

    return answer


def server_redirects(*locations: str) -> Answer:
    """To each location in turn, and then to the last one again and again."""
    left = list(locations)

    async def answer(writer: asyncio.StreamWriter, head: str) -> None:
        to = left.pop(0) if len(left) > 1 else left[0]
        writer.write(f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode())

    return answer
