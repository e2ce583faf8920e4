"""A proxy in front of an S3 server that lets the bodies of chosen objects drip."""

import asyncio
import contextlib
import re
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from testing.s3 import KEYS


class DrippingS3:
    """`with DrippingS3(server.url, "slow-.*") as slow`: an object whose path matches is announced
    whole and then sent a byte at a time, so that no read ever times out."""

    def __init__(self, upstream: str, pattern: str, every_s: float = 0.2) -> None:
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname or "", parts.port or 80)
        self._pattern = re.compile(pattern.encode())
        self._every_s = every_s
        self.url = ""
        #: How many bodies are dripping now.
        self.dripping = 0
        self._serving: set[asyncio.Task[None]] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def settings(self) -> dict[str, str]:
        """The environment that leads boto3 here."""
        return {"AWS_ENDPOINT_URL": self.url, **KEYS}

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the proxy did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(5)

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stopping.wait()
        server.close()
        # Left to the loop's end, they would be cancelled there, each with a line of noise.
        serving = [*self._serving]
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of our own: the server logs one of its own that is cancelled as an error.
        task = asyncio.create_task(self._pass_on(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(*self._upstream)
        slow = asyncio.Event()
        ways = [
            asyncio.create_task(self._requests(reader, up_writer, slow)),
            asyncio.create_task(self._answers(up_reader, writer, slow)),
        ]
        # When either side hangs up, the other is let go.
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for each in (writer, up_writer):
                with contextlib.suppress(ConnectionError, RuntimeError):
                    each.close()

    async def _requests(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, slow: asyncio.Event
    ) -> None:
        while data := await reader.read(65536):
            # boto3 sends a request only after the answer to the one before.
            if re.match(rb"[A-Z]+ /", data):
                line = data.partition(b"\r\n")[0]
                chosen = line.startswith(b"GET ") and self._pattern.search(line)
                (slow.set if chosen else slow.clear)()
            writer.write(data)
            await writer.drain()

    async def _answers(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, slow: asyncio.Event
    ) -> None:
        while data := await reader.read(65536):
            if not slow.is_set():
                writer.write(data)
                await writer.drain()
                continue
            head, end, body = data.partition(b"\r\n\r\n")
            writer.write(head + end)
            self.dripping += 1
            try:
                for byte in body:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(self._every_s)
            finally:
                self.dripping -= 1
