"""Reads a vendor's answer whole and within bounds, before the vendor's SDK does.

The SDKs read whatever comes: a body that never ends, or one that unpacks to gigabytes, would take
the worker's memory, and a redirect would send the page and the key to another address. These
bounds hold for whatever an address answers, also one that is not a vendor's.
"""

import json
import zlib
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from quire.domain import errors

#: Of an answer, unpacked: a hundred times the longest page, with all that surrounds its text.
MAX_BYTES = 8 * 1024**2
#: Of an error: its status says enough when its words do not end.
MAX_ERROR_BYTES = 256 * 1024
# The headers of the task's last answer: the SDKs give them with a success only by a detour.
ANSWER_HEADERS: ContextVar[Mapping[str, str]] = ContextVar("answer_headers")
_PACKED = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


def client_options() -> dict[str, Any]:
    """How an SDK's own HTTP client is made, so that it keeps the bounds."""
    return {
        "follow_redirects": False,
        "event_hooks": {"response": [bound_body]},
        # No packing but those that are unpacked here.
        "headers": {"accept-encoding": "gzip"},
    }


async def bound_body(response: Any) -> None:
    """Put the answer's unpacked body in the place of its stream; raises `AttemptFailed`."""
    ANSWER_HEADERS.set(response.headers)
    status = response.status_code
    if 300 <= status < 400:
        raise errors.vendor_redirects(status)
    if status < 300:
        body = await _read(response, MAX_BYTES)
        _check_json(body)
    else:
        try:
            body = await _read(response, MAX_ERROR_BYTES)
        except errors.AttemptFailed:
            body = b""
    await response.stream.aclose()
    response.headers.pop("content-encoding", None)
    # A stream of the client's own kind: the SDKs accept no other, and not all share one library.
    response.stream = type(response)(status, content=body).stream


async def _read(response: Any, limit: int) -> bytes:
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing in ("", "identity"):
        return await _read_plain(response.stream, limit)
    if packing not in _PACKED:
        raise errors.answer_packed(packing)
    try:
        return await _read_packed(response.stream, limit, _PACKED[packing])
    except zlib.error:
        raise errors.answer_malformed("The vendor's answer cannot be unpacked.") from None


async def _read_plain(stream: Any, limit: int) -> bytes:
    body = bytearray()
    async for piece in stream:
        body += piece
        if len(body) > limit:
            raise errors.answer_too_large(allowed=limit)
    return bytes(body)


async def _read_packed(stream: Any, limit: int, window: int) -> bytes:
    """Both sizes are bounded: a packed body can be long and yet unpack to nothing."""
    body, received, unpack = bytearray(), 0, zlib.decompressobj(window)
    async for piece in stream:
        received += len(piece)
        if not unpack.eof:
            body += unpack.decompress(piece, limit + 1 - len(body))
        if max(received, len(body)) > limit:
            raise errors.answer_too_large(allowed=limit)
    return bytes(body)


def _check_json(body: bytes) -> None:
    """Refuse what no parser can hold. Whatever else is wrong with it, the SDK finds and says."""
    try:
        json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        raise errors.answer_malformed("The vendor's JSON cannot be read.") from None
