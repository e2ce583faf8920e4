"""The stand-in vendor: a real HTTP server on loopback that speaks both vendors' languages."""

import asyncio
import contextlib
import json
import threading
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

from testing.vendor import wire
from testing.vendor.behaviours import Behaviour
from testing.vendor.calls import Call, CallLog, most_at_once
from testing.vendor.connection import Exchange, serve_connection
from testing.vendor.performance import Performance, Speak
from testing.vendor.rules import Rule, Script

PATHS: dict[str, wire.Api] = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic"}
HEADERS_OF_INTEREST = ("authorization", "x-api-key", "user-agent", "x-stainless-retry-count")


class Addresses:
    """Where a stand-in listens, in the form each SDK wants its base URL."""

    url: str = ""

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        return self.url


class StandIn(Addresses):
    """A vendor in a thread of this process: `with StandIn() as vendor: ...`.

    `answer` gives the text for a request that no rule gave one; it may look at the image.
    """

    def __init__(self, answer: Speak = wire.own_words, port: int = 0) -> None:
        self._answer = answer
        self._port = port
        self._script = Script()
        self._log = CallLog()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="vendor-stand-in")

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        if self._failure:
            raise self._failure
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Drop every connection, hanging ones too, and end the thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(2)

    # --- programming and asking --------------------------------------------------------

    def behave(self, behaviour: Behaviour, **when: Any) -> None:
        """Add a rule; `when` are the fields of `Rule`. The latest matching rule decides."""
        self._script.add(Rule(behaviour, **when))

    def calls(self, model: str | None = None) -> list[Call]:
        return self._log.select(model)

    def billed(self) -> tuple[int, int]:
        """Input and output tokens of all its answers, good and bad."""
        bills = [call.billed for call in self.calls()]
        return sum(read for read, _ in bills), sum(written for _, written in bills)

    def max_concurrent(self, model: str | None = None) -> int:
        return most_at_once(self._log.select(model))

    def wait_for_calls(self, count: int, timeout: float = 5.0, ended: bool = False) -> list[Call]:
        """Wait until so many calls have come (or ended), and give them."""

        def enough(calls: list[Call]) -> bool:
            return sum(1 for call in calls if call.ended or not ended) >= count

        if not self._log.wait(enough, timeout):
            raise TimeoutError(f"{len(self.calls())} calls after {timeout} s, not {count}")
        return self.calls()

    def release(self) -> None:
        """Give late answers at once, until the next reset: a test that needs a call in flight
        can make it as late as it likes and need not wait for its end."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._released.set)

    def reset(self) -> None:
        """Forget rules and calls."""
        self._script.clear()
        self._log.clear()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._released.clear)

    # --- serving -----------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as failure:
            self._failure = failure
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._released = asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(serve_connection(self._handle, reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", self._port, backlog=1024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stopping.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _handle(self, exchange: Exchange) -> None:
        request = exchange.request
        api = PATHS.get(request.path)
        if api is not None and request.method == "POST":
            await self._serve_call(api, exchange)
        elif request.path == "/v1/models":
            await exchange.respond(200, wire.models())
        elif request.path == "/_control" and request.method == "POST":
            await self._control(exchange)
        elif request.path == "/_calls":
            wanted = parse_qs(request.query).get("model", [None])[0]
            calls = [call.to_json() for call in self.calls(wanted)]
            most = self.max_concurrent(wanted)
            await exchange.respond(200, {"calls": calls, "max_concurrent": most})
        else:
            problem = wire.error("openai", 404, f"Invalid URL ({request.method} {request.path})")
            await exchange.respond(404, problem)

    async def _serve_call(self, api: wire.Api, exchange: Exchange) -> None:
        try:
            asked = wire.parse(api, json.loads(exchange.request.body))
        except (KeyError, TypeError, ValueError) as problem:
            await exchange.respond(400, wire.error(api, 400, f"Malformed request: {problem!r}"))
            return
        headers = exchange.request.headers
        call = self._log.begin(
            api=api,
            model=asked.model,
            system=asked.system,
            user=asked.user,
            cap=asked.cap,
            cap_name=asked.cap_name,
            image_media_type=asked.image_media_type,
            image_bytes=asked.image_bytes,
            image_mark=asked.image_mark,
            headers={name: headers[name] for name in HEADERS_OF_INTEREST if name in headers},
        )
        behaviour = self._script.decide(asked)
        call.behaviour = behaviour.name
        performance = Performance(exchange, asked, call, self._answer, self._released)
        try:
            await performance.perform(behaviour)
        except (asyncio.CancelledError, ConnectionError):
            call.aborted = True
            raise
        finally:
            call.status = exchange.status
            self._log.end(call)

    async def _control(self, exchange: Exchange) -> None:
        """`{"reset": true, "rules": [...]}`: reset first, then the rules in their order."""
        try:
            order = json.loads(exchange.request.body or b"{}")
            self.apply(order)
        except (KeyError, TypeError, ValueError) as problem:
            await exchange.respond(400, {"error": str(problem)})
            return
        await exchange.respond(200, {"ok": True})

    def apply(self, order: dict[str, Any]) -> None:
        """Carry out a control order, as sent over HTTP or read from a script file."""
        rules = [Rule.from_json(rule) for rule in order.get("rules", [])]
        if order.get("reset"):
            self.reset()
        for rule in rules:
            self._script.add(rule)
