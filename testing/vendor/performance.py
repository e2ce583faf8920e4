"""How each behaviour is carried out on the wire."""

import asyncio
import contextlib
import json
import zlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from testing.vendor import wire
from testing.vendor.behaviours import Behaviour
from testing.vendor.calls import Call
from testing.vendor.connection import Exchange
from testing.vendor.wire import Asked

LOOP_LINE = "The total of the following items is the total of the following items.\n"
HTML = b"<!doctype html><html><head><title>502</title></head><body>Bad gateway</body></html>"
REFUSAL = "I'm sorry, but I can't help with transcribing this page."
LOW_CREDIT = (
    "Your credit balance is too low to access the Anthropic API. "
    "Please go to Plans & Billing to upgrade or purchase credits."
)
NO_QUOTA = "You exceeded your current quota, please check your plan and billing details."
Speak = Callable[[Asked], str]


class Performance:
    """One call's treatment."""

    def __init__(
        self,
        exchange: Exchange,
        asked: Asked,
        call: Call,
        speak: Speak,
        released: asyncio.Event,
    ) -> None:
        self._exchange = exchange
        self._asked = asked
        self._call = call
        self._speak = speak
        self._released = released
        name = "x-request-id" if asked.api == "openai" else "request-id"
        self._headers = {name: f"req_standin_{call.number}"}

    async def perform(self, behaviour: Behaviour) -> None:
        act: Callable[..., Awaitable[None]] = getattr(self, f"_{behaviour.name}")
        await act(**behaviour.options)

    # --- answers -----------------------------------------------------------------------

    async def _vendor_answers(self, text: str | None, cached: int = 0) -> None:
        await self._send(wire.answer(self._asked, self._text(text), cached=cached))

    async def _vendor_answers_late(self, seconds: float, text: str | None) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._released.wait(), seconds)
        await self._vendor_answers(text)

    async def _vendor_says_what_is_left(self, calls: int, reset_s: int) -> None:
        if self._asked.api == "openai":
            names, reset = "x-ratelimit-{}-requests", f"{reset_s}s"
        else:
            names = "anthropic-ratelimit-requests-{}"
            reset = (datetime.now(UTC) + timedelta(seconds=reset_s)).isoformat()
        left = {names.format("remaining"): str(calls), names.format("reset"): reset}
        await self._send(wire.answer(self._asked, self._text(None)), headers=left)

    async def _vendor_answers_empty(self) -> None:
        await self._send(wire.answer(self._asked, ""))

    async def _vendor_truncates(self, below: int | None, text: str | None) -> None:
        if below is not None and (self._asked.cap or 0) >= below:
            await self._vendor_answers(text)
            return
        stop = "length" if self._asked.api == "openai" else "max_tokens"
        await self._send(wire.answer(self._asked, self._text(text)[:-3] or "cut", stop=stop))

    async def _vendor_refuses(self, filtered: bool) -> None:
        if self._asked.api == "anthropic":
            await self._send(wire.answer(self._asked, REFUSAL, stop="refusal"))
        elif filtered:
            await self._send(wire.answer(self._asked, "", stop="content_filter"))
        else:
            await self._send(wire.answer(self._asked, "", refusal=REFUSAL))

    async def _vendor_loops(self) -> None:
        await self._send(wire.answer(self._asked, "Invoice 17\n\n" + LOOP_LINE * 120))

    # --- errors with a status ----------------------------------------------------------

    async def _vendor_rate_limits(self, retry_after: float | str | None, ms: bool) -> None:
        headers = {}
        if retry_after is not None:
            headers["retry-after-ms" if ms else "retry-after"] = str(retry_after)
        await self._fail(429, "Rate limit reached.", "rate_limit_exceeded", headers)

    async def _vendor_out_of_quota(self, status: int | None) -> None:
        if self._asked.api == "openai":
            await self._fail(status or 429, NO_QUOTA, "insufficient_quota")
        else:
            await self._fail(status or 400, LOW_CREDIT)

    async def _vendor_fails(
        self,
        status: int,
        message: str | None,
        code: str | None,
        param: str | None,
        retry_after: float | str | None,
    ) -> None:
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        await self._fail(status, message or "The server had an error.", code, headers, param)

    async def _vendor_overloads(self) -> None:
        await self._fail(529, "Overloaded")

    async def _vendor_refuses_key(self) -> None:
        message = f"Incorrect API key provided: {self._key()}."
        await self._fail(401, message, "invalid_api_key")

    async def _vendor_echoes_secrets(self, status: int, page: bool) -> None:
        context = self._asked.user.rpartition("===")[2].strip() if page else ""
        await self._fail(status, f"Cannot parse {self._key()} with {context!r}.")

    async def _vendor_forbids(self) -> None:
        await self._fail(403, "Your key has no permission to use this model.")

    async def _vendor_lacks_model(self) -> None:
        await self._fail(404, f"The model `{self._asked.model}` does not exist.", "model_not_found")

    async def _vendor_rejects_page(self) -> None:
        await self._fail(400, "Could not process image.", "invalid_image")

    async def _vendor_finds_image_too_large(self) -> None:
        await self._fail(413, "Request exceeds the maximum size.")

    # --- what breaks below or beyond the protocol --------------------------------------

    async def _vendor_hangs(self, after_headers: bool) -> None:
        if after_headers:
            self._exchange.send_head(200, {"content-length": "1000", **self._headers})
        await asyncio.Event().wait()

    async def _vendor_drips(self, every: float, seconds: float | None) -> None:
        self._exchange.send_head(200, {"transfer-encoding": "chunked", **self._headers})
        dripped = 0.0
        while seconds is None or dripped < seconds:
            await self._exchange.send_chunk(b" ")
            await asyncio.sleep(every)
            dripped += every
        body = json.dumps(wire.answer(self._asked, self._text(None))).encode()
        await self._exchange.send_chunk(body)
        await self._exchange.send_chunk(b"")

    async def _vendor_cuts_connection(self, midway: bool) -> None:
        if midway:
            self._exchange.send_head(200, {"content-length": "1000", **self._headers})
            await asyncio.sleep(0.02)  # let the head reach the client before the reset
        self._exchange.cut()

    async def _vendor_sends_html(self, status: int) -> None:
        await self._exchange.respond(status, HTML, self._headers, "text/html")

    async def _vendor_sends_error_body(self, billed: bool) -> None:
        usage = wire.answer(self._asked, "gone")["usage"]
        body = wire.error(self._asked.api, 500, "Upstream failed.")
        await self._send({**body, "usage": usage} if billed else body)

    async def _vendor_sends_broken_json(self) -> None:
        body = json.dumps(wire.answer(self._asked, self._text(None))).encode()
        await self._exchange.respond(200, body[: len(body) // 2], self._headers)

    # --- more than anyone can take ------------------------------------------------------

    async def _vendor_never_ends(self, status: int, headers: bool) -> None:
        if headers:
            await self._exchange.send_raw(f"HTTP/1.1 {status} OK\r\n".encode())
            while True:
                await self._exchange.send_raw(b"x-more: " + b"y" * 8000 + b"\r\n")
        self._exchange.send_head(status, {"transfer-encoding": "chunked", **self._headers})
        await self._exchange.send_chunk(b'{"choices": [{"message": {"content": "')
        while True:
            await self._exchange.send_chunk(b"more " * 13_000)

    async def _vendor_sends_bomb(self, megabytes: int, packing: str) -> None:
        head = {"transfer-encoding": "chunked", "content-encoding": packing, **self._headers}
        self._exchange.send_head(200, head)
        pack, block = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS), bytes(1024**2)
        for _ in range(megabytes):
            if piece := pack.compress(block):
                await self._exchange.send_chunk(piece)
        await self._exchange.send_chunk(pack.flush())
        await self._exchange.send_chunk(b"")

    async def _vendor_redirects(self, location: str, status: int) -> None:
        await self._exchange.respond(status, b"", {"location": location, **self._headers})

    async def _vendor_sends_surrogates(self, text: str) -> None:
        await self._send(wire.answer(self._asked, text))

    async def _vendor_ignores_cap(self, chars: int) -> None:
        words = " ".join(f"word{number}" for number in range(chars // 5))
        await self._send(wire.answer(self._asked, words[:chars]))

    async def _vendor_sends_json_beyond_reason(self, body: str) -> None:
        await self._exchange.respond(200, body.encode() * 100_000, self._headers)

    # --- helpers -----------------------------------------------------------------------

    def _key(self) -> str:
        headers = self._exchange.request.headers
        return headers.get("x-api-key") or headers.get("authorization", "")

    def _text(self, text: str | None) -> str:
        if text is None:
            return self._speak(self._asked)
        return text.replace("{image}", self._asked.image_mark)

    async def _send(self, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        """Billed before it is sent: who has the answer may look at the bill at once."""
        self._call.billed = wire.billed(body)
        try:
            await self._exchange.respond(200, body, {**self._headers, **(headers or {})})
        except (asyncio.CancelledError, ConnectionError):
            self._call.billed = (0, 0)
            raise

    async def _fail(
        self,
        status: int,
        message: str,
        code: str | None = None,
        headers: dict[str, str] | None = None,
        param: str | None = None,
    ) -> None:
        # Anthropic names causes in `error.details`, and OpenAI's codes mean nothing there.
        code = code if self._asked.api == "openai" else None
        body = wire.error(self._asked.api, status, message, code, param)
        await self._exchange.respond(status, body, {**self._headers, **(headers or {})})
