"""What a program can name as a document: a path, bytes, a file object, a URL, page images."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from quire.contracts.document import DocumentRequest
from quire.domain.errors import UsageError
from quire.jobs.submit import prepare_request, seal_request
from quire.jobs.uploads import UNNAMED, Content, as_file, with_upload
from quire.settings import Settings

PathLike = str | os.PathLike[str]
Source = PathLike | bytes | bytearray | memoryview | IO[bytes] | Sequence[PathLike]


async def ready_request(
    settings: Settings,
    request: DocumentRequest,
    source: Source,
    name: str | None,
    password: str | None,
) -> DocumentRequest:
    """The request, ready to leave this process; bytes go into the store first."""
    content = _content(source)
    if content is None:
        ready = await prepare_request(settings, request, _origins(source), password)
        return ready.model_copy(update={"source_name": name}) if name else ready
    shown = name or _name_of(content)
    sealed = seal_request(settings, request, password)
    with as_file(content, shown, settings.max_file_size) as file:
        return await with_upload(settings, sealed, file, shown)


@contextmanager
def local_origins(settings: Settings, source: Source, name: str | None) -> Iterator[list[str]]:
    """The source as paths or a URL; bytes are a file meanwhile."""
    content = _content(source)
    if content is None:
        yield _origins(source)
        return
    with as_file(content, name or _name_of(content), settings.max_file_size) as file:
        yield [str(file)]


def _content(source: Source) -> Content | None:
    if isinstance(source, bytes | bytearray | memoryview):
        return source
    return source if hasattr(source, "read") else None  # type: ignore[return-value]


def _origins(source: object) -> list[str]:
    given = list(source) if isinstance(source, list | tuple) else [source]
    if not given:
        raise UsageError("There is no document in an empty list.", "Name its page images.")
    return [_path(one) for one in given]


def _path(one: object) -> str:
    if isinstance(one, str | os.PathLike):
        path = os.fspath(one)
        if isinstance(path, str) and path:
            return path
    raise UsageError(
        f"{one!r:.60} cannot be a document.",
        "Give a path, bytes, a file object, a URL, or a list of page images.",
    )


def _name_of(content: Content) -> str:
    name = getattr(content, "name", None)
    return (Path(name).name if isinstance(name, str) else "") or UNNAMED
