"""Documents behind `http(s)://`: streamed, within limits of size and time, redirects checked."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

import httpx

from quire.domain import errors
from quire.sources.addresses import CheckedTransport
from quire.threads import STALL_BYTES, STALL_S, Dependency, threads_of

MAX_REDIRECTS = 5
_CONNECT_S = 10.0
_PIECE = 256 * 1024


class WebOrigin:
    """Downloads documents; each redirect is resolved and checked like the first address."""

    def __init__(self, *, max_bytes: int, time_limit_s: float, allow_private: bool) -> None:
        self._max_bytes = max_bytes
        self._time_limit_s = time_limit_s
        self._allow_private = allow_private

    async def download(self, url: str, target: Path) -> None:
        """Download the document into the file `target`; every failure has a reason."""
        transport = CheckedTransport(allow_private=self._allow_private)
        timeout = httpx.Timeout(self._time_limit_s, connect=_CONNECT_S)
        try:
            async with (
                asyncio.timeout(self._time_limit_s),
                httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False) as http,
            ):
                await self._follow(http, url, target)
        except TimeoutError:
            raise errors.download_too_slow(self._time_limit_s) from None
        except httpx.TimeoutException:
            raise errors.server_too_slow() from None
        except httpx.ConnectError:
            raise errors.server_unreachable() from None
        except httpx.RemoteProtocolError:
            raise errors.download_cut_short() from None
        except httpx.TransportError as error:
            raise errors.transfer_failed(type(error).__name__) from None
        except (httpx.InvalidURL, httpx.HTTPError, ValueError):
            raise errors.url_not_understood() from None

    async def _follow(self, http: httpx.AsyncClient, url: str, target: Path) -> None:
        here = _web_url(httpx.URL(url))
        for _ in range(MAX_REDIRECTS + 1):
            # The size limit counts bytes of the document, not of a compressed answer.
            headers = {"accept-encoding": "identity", "user-agent": "quire"}
            async with http.stream("GET", here, headers=headers) as answer:
                if not answer.is_redirect:
                    _refuse_status(answer.status_code)
                    await self._save(answer, target)
                    return
                location = answer.headers.get("location", "")
            if not location:
                raise errors.redirect_to_nowhere()
            here = _web_url(here.join(location))
        raise errors.too_many_redirects(allowed=MAX_REDIRECTS)

    async def _save(self, answer: httpx.Response, target: Path) -> None:
        announced = answer.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > self._max_bytes:
            raise errors.too_many_bytes(
                f"The document has {int(announced):,} bytes", allowed=self._max_bytes
            )
        received = 0
        with target.open("wb") as file:
            async for piece in _pieces(answer):
                received += len(piece)
                if received > self._max_bytes:
                    raise errors.too_many_bytes(
                        f"The document has over {received:,} bytes", allowed=self._max_bytes
                    )
                await threads_of(Dependency.ORIGINS).run(file.write, piece)
        if announced.isdigit() and received < int(announced):
            raise errors.download_cut_short()


async def _pieces(answer: httpx.Response) -> AsyncIterator[bytes]:
    """The body in pieces that are worth a write; ends with a refusal when it comes to a halt."""
    now = asyncio.get_running_loop().time
    waiting, since_moved = bytearray(), 0
    # The clock is wound up for each piece: it must not run while the receiver is busy.
    pieces, due = answer.aiter_raw(), now() + STALL_S
    while True:
        try:
            async with asyncio.timeout_at(due) as clock:
                piece = await anext(pieces, b"")
        except TimeoutError:
            if clock.expired():
                raise errors.download_stalls(STALL_S) from None
            raise
        waiting += piece
        since_moved += len(piece)
        if since_moved >= STALL_BYTES:
            since_moved, due = 0, now() + STALL_S
        if len(waiting) >= _PIECE or not piece:
            began = now()
            yield bytes(waiting)
            due += now() - began
            waiting.clear()
        if not piece:
            return


def name_in_url(url: str) -> str:
    """The name of the document: the last part of the path, without query or secrets."""
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    host, _, rest = path.partition("/")
    return unquote(rest.rstrip("/").rpartition("/")[2]) or host.rpartition("@")[2]


def _web_url(url: httpx.URL) -> httpx.URL:
    if url.scheme not in ("http", "https") or not url.host:
        raise errors.url_not_of_web()
    return url


def _refuse_status(status: int) -> None:
    if status in (404, 410):
        raise errors.not_on_server(status)
    if status in (401, 403):
        raise errors.server_denies(status)
    if status >= 500 or status in (408, 425, 429):
        raise errors.server_answers(status, passing=True)
    if status != 200:
        raise errors.server_answers(status, passing=False)
