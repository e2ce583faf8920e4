"""What a program can name as a document: a path, bytes, a file object, a URL, page images."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, BinaryIO

from quire.domain.errors import UsageError
from quire.jobs.origins import Given, Upload

UNNAMED = "document"

PathLike = str | os.PathLike[str] | os.PathLike[bytes]
Source = PathLike | bytes | bytearray | memoryview | IO[bytes] | Sequence[PathLike]


def given_document(source: Source, name: str | None) -> Given:
    """The source as the use cases take it: paths or a URL, or bytes for the store."""
    content = _content(source)
    if content is None:
        return _origins(source)
    # A name may hold a path of its own, which says nothing on another machine.
    return Upload(content, Path(name or _name_of(content)).name or UNNAMED)


def _content(source: Source) -> BinaryIO | None:
    if isinstance(source, bytes | bytearray | memoryview):
        return io.BytesIO(source)
    return source if hasattr(source, "read") else None  # type: ignore[return-value]


def _origins(source: object) -> list[str]:
    given = list(source) if isinstance(source, list | tuple) else [source]
    if not given:
        raise UsageError("There is no document in an empty list.", "Name its page images.")
    return [_path(one) for one in given]


def _path(one: object) -> str:
    # A path may give itself as bytes, and its name need not be UTF-8.
    if isinstance(one, str | os.PathLike) and (path := os.fsdecode(one)):
        return path
    raise UsageError(
        f"{one!r:.60} cannot be a document.",
        "Give a path, bytes, a file object, a URL, or a list of page images.",
    )


def _name_of(content: BinaryIO) -> str:
    name = getattr(content, "name", None)
    return (Path(name).name if isinstance(name, str) else "") or UNNAMED
