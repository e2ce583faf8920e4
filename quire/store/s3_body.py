"""Bodies of objects on their way from and to S3, within a total time.

boto3 limits the time of each read, and a server that sends a byte now and then keeps every limit.
"""

import base64
import hashlib
from collections.abc import Iterator
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

from quire.threads import STALL_BYTES, TimeLimit


def pieces(answer: Any, limit: TimeLimit) -> Iterator[bytes]:
    """The body of an answer. When the time is up, or nothing comes, the connection is shut, which
    wakes a thread that waits for the next byte."""
    body = answer["Body"]
    with body as raw, limit.closing(getattr(raw, "shutdown", body.close)):
        limit.moved()
        for piece in body.iter_chunks(STALL_BYTES):
            limit.moved()
            yield piece


def save_body(answer: Any, target: Path, limit: TimeLimit) -> None:
    """Write the body of an answer into a file."""
    with target.open("wb") as file:
        for piece in pieces(answer, limit):
            file.write(piece)


def sent_checksum(path: Path, part: int | None) -> str:
    """What a server calls the SHA-256 of this file when it was sent whole, or in parts of this
    size: then it is that of the parts' hashes, with their number."""
    with path.open("rb") as file:
        if part is None:
            return _encoded(hashlib.file_digest(file, "sha256").digest())
        hashes = [hashlib.sha256(piece).digest() for piece in iter(partial(file.read, part), b"")]
    return f"{_encoded(hashlib.sha256(b''.join(hashes)).digest())}-{len(hashes)}"


def _encoded(digest: bytes) -> str:
    return base64.b64encode(digest).decode()


class WatchedFile(FileIO):
    """A file to be sent, which cannot be read once the time is up."""

    def __init__(self, path: Path, limit: TimeLimit) -> None:
        super().__init__(path, "rb")
        self._limit = limit

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; raises `TooSlow` when the time is up."""
        self._limit.check()
        return super().read(-1 if size is None else size)
