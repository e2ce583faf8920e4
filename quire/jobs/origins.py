"""Makes a document reachable for workers: local files are checked and stored."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from quire.app.parts import open_store
from quire.contracts.document import DocumentRequest
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.origin import STORED, shown_name
from quire.settings import Settings
from quire.sources.fetch import is_remote
from quire.sources.file_kind import check_file
from quire.sources.files import hash_file, page_images, save_stream, store_images
from quire.sources.web import name_in_url


@dataclass(frozen=True)
class Origin:
    """An origin from which a worker can fetch, and the name that people give the document."""

    source: str
    name: str


@dataclass(frozen=True)
class Upload:
    """A document that only this process can read, and once: it goes into the store."""

    stream: BinaryIO
    name: str


Given = Sequence[str] | Upload


async def with_origin(
    settings: Settings, request: DocumentRequest, given: Given
) -> DocumentRequest:
    """The request with an origin that workers can reach."""
    if isinstance(given, Upload):
        origin = await _prepare_upload(settings, given)
    else:
        origin = await _prepare_named(settings, given)
    name = shown_name(origin.name)
    return request.model_copy(update={"source": origin.source, "source_name": name})


async def _prepare_named(settings: Settings, origins: Sequence[str]) -> Origin:
    if len(origins) > 1 and any(map(is_remote, origins)):
        raise errors.url_among_several()
    return await prepare_origin(settings, origins)


async def _prepare_upload(settings: Settings, upload: Upload) -> Origin:
    """Store the bytes under their hash: no worker could read them again where they came from."""
    limit, store = settings.max_file_size, open_store(settings)
    place = tempfile.gettempdir()
    with (
        errors.disk_errors("TMPDIR", place),
        tempfile.TemporaryDirectory(prefix="quire-") as folder,
    ):
        path = Path(folder) / "document"
        await asyncio.to_thread(save_stream, upload.stream, path, limit, upload.name)
        if check_file(path, limit, upload.name) == "image":
            return Origin(STORED + await store_images(store, [path]), upload.name)
        sha256 = await asyncio.to_thread(hash_file, path)
        await store.put_file(source_key(sha256), path)
        return Origin(STORED + sha256, upload.name)


async def prepare_origin(settings: Settings, given: Sequence[str]) -> Origin:
    """Check local files before anything starts, and put them into the store: a job is about these
    bytes, whatever becomes of the path, and workers elsewhere could not reach it."""
    if len(given) == 1 and is_remote(given[0]):
        return Origin(given[0], name_in_url(given[0]))
    return await _prepare_files(settings, [_local(origin) for origin in given])


def _local(origin: str) -> Path:
    return Path(origin.removeprefix("file://")).expanduser().absolute()


async def _prepare_files(settings: Settings, paths: list[Path]) -> Origin:
    limit = settings.max_file_size
    first = paths[0]
    if len(paths) == 1 and not first.is_dir() and check_file(first, limit) == "pdf":
        sha256 = await asyncio.to_thread(hash_file, first)
        await open_store(settings).put_file(source_key(sha256), first)
        return Origin(STORED + sha256, first.name)
    files = page_images(paths, max_images=settings.max_images, max_bytes=limit)
    name = first.name if len(paths) == 1 else f"{files[0].name} and {len(files) - 1} more"
    return Origin(STORED + await store_images(open_store(settings), files), name)
