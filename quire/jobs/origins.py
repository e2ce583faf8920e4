"""Making what a person names reachable for workers: local files are checked first and stored."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.app import open_store
from quire.contracts.document import DocumentRequest
from quire.domain import errors
from quire.domain.document.keys import source_key
from quire.domain.document.origin import STORED
from quire.settings import Settings
from quire.sources.fetch import is_remote
from quire.sources.files import hash_file, page_images, store_images
from quire.sources.sniff import check_file
from quire.sources.web import name_in_url


@dataclass(frozen=True)
class Origin:
    """An origin that a worker can fetch from, and what people call it."""

    source: str
    name: str


async def with_origin(
    settings: Settings, request: DocumentRequest, sources: Sequence[str]
) -> DocumentRequest:
    """The request with its document where workers reach it."""
    if len(sources) > 1 and any(map(is_remote, sources)):
        raise errors.UsageError("A URL cannot be put together with other sources.", "Give one URL.")
    origin = await prepare_origin(settings, sources)
    return request.model_copy(update={"source": origin.source, "source_name": origin.name})


async def prepare_origin(settings: Settings, given: Sequence[str]) -> Origin:
    """Check what is on this machine before anything starts; what workers elsewhere could not
    reach, and page images, go into the store first."""
    if len(given) == 1 and is_remote(given[0]):
        return Origin(given[0], name_in_url(given[0]))
    return await _prepare_files(settings, [_local(source) for source in given])


def _local(source: str) -> Path:
    return Path(source.removeprefix("file://")).expanduser().absolute()


async def _prepare_files(settings: Settings, paths: list[Path]) -> Origin:
    limit = settings.max_file_size
    first = paths[0]
    if len(paths) == 1 and not first.is_dir() and check_file(first, limit) == "pdf":
        if not settings.cluster:
            return Origin(str(first), first.name)
        sha256 = await asyncio.to_thread(hash_file, first)
        await open_store(settings).put_file(source_key(sha256), first)
        return Origin(STORED + sha256, first.name)
    files = page_images(paths, max_images=settings.max_images, max_bytes=limit)
    name = first.name if len(paths) == 1 else f"{files[0].name} and {len(files) - 1} more"
    return Origin(STORED + await store_images(open_store(settings), files), name)
