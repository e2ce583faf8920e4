"""Makes the documents of a batch reachable for workers: files are checked, hashed and stored."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.app.parts import open_store, seal_password
from quire.contracts.batch import MOST_DOCUMENTS, SourceItem
from quire.contracts.names import document_job_id
from quire.domain import errors
from quire.domain.batch.sources import with_same
from quire.domain.document.keys import source_key
from quire.domain.document.origin import STORED, shown_name
from quire.domain.errors import DiskFull, QuireError, UsageError
from quire.ports import Store
from quire.settings import Settings
from quire.sources.fetch import is_remote
from quire.sources.file_kind import check_file
from quire.sources.files import hash_file, store_images
from quire.sources.listing import Found, Links, list_sources
from quire.sources.web import name_in_url
from quire.store.s3_access import set_s3_access

# Files that are copied into the store at once.
AT_ONCE = 8
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class PreparedSources:
    """The list of a batch, and what people should be told of it."""

    items: tuple[SourceItem, ...]
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> int:
        """How many can already be seen not to be documents."""
        return sum(item.error is not None for item in self.items)


async def find_sources(
    settings: Settings, sources: Sequence[str], *, follow_links: bool = False
) -> tuple[list[Found], tuple[str, ...]]:
    """The documents that the sources name, and notes for people."""
    set_s3_access(settings.s3_access)
    links = Links(follow=follow_links)
    found = await asyncio.to_thread(lambda: list(list_sources(list(sources), links)))
    if len(found) > MOST_DOCUMENTS:
        raise UsageError(
            f"{len(found):,} documents are more than {MOST_DOCUMENTS:,}.", "Start several batches."
        )
    notes: tuple[str, ...] = ()
    if links.left_out:
        notes = (f"{links.left_out} symbolic links were left out: --follow-links takes them",)
    return _named_once(found), notes


def _named_once(found: list[Found]) -> list[Found]:
    """A job id that a manifest gives twice is the first one's."""
    known: set[str] = set()
    once: list[Found] = []
    for one in found:
        if one.job_id is not None and one.job_id in known:
            error = errors.job_id_taken(one.job_id, "an earlier row has it")
            one = Found.refused(one.origin, one.shown, error)
        elif one.job_id is not None:
            known.add(one.job_id)
        once.append(one)
    return once


async def prepare_sources(
    settings: Settings, batch_id: str, found: Sequence[Found], progress: Progress | None = None
) -> PreparedSources:
    """Every document as a worker can fetch it; one that cannot be read is an error in its place.
    Raises that error where there is no document at all."""
    store = open_store(settings)
    room, done = asyncio.Semaphore(AT_ONCE), 0

    async def prepare(number: int, one: Found) -> tuple[SourceItem, str]:
        nonlocal done
        async with room:
            item = await _prepare(settings, store, document_job_id(batch_id, number), one)
        done += 1
        if progress is not None:
            progress(done, len(found))
        return item

    several = (prepare(number, one) for number, one in enumerate(found, 1))
    prepared = await asyncio.gather(*several)
    items = with_same([item for item, _ in prepared], [content for _, content in prepared])
    if all(item.error is not None for item in items):
        first = next((item.error for item in items if item.error is not None), None)
        if first is None:
            raise UsageError("There is no document.")
        raise errors.DocumentRefused.from_info(first)
    return PreparedSources(tuple(items))


async def _prepare(
    settings: Settings, store: Store, job_id: str, one: Found
) -> tuple[SourceItem, str]:
    """The item, and what its bytes are known by."""
    item = SourceItem(
        shown=shown_name(one.shown),
        job_id=one.job_id,
        pages=one.pages,
        engine=one.engine,
        value=one.value,
        due=one.due,
        error=one.error,
    )
    if one.error is not None:
        return item, ""
    if one.password is not None:
        sealed = seal_password(settings, one.password, one.job_id or job_id)
        item = item.model_copy(update={"sealed_password": sealed})
    if is_remote(one.origin):
        name = shown_name(name_in_url(one.origin))
        return item.model_copy(update={"source": one.origin, "name": name}), one.content
    path = Path(one.origin)
    try:
        sha256 = await _store_file(settings, store, path)
    except DiskFull:
        # Not the document's fault, nor the only one that would fail.
        raise
    except QuireError as error:
        return item.model_copy(update={"error": error.info}), ""
    except OSError as error:
        # It vanished, or cannot be read any more.
        gone = isinstance(error, FileNotFoundError)
        known = errors.file_not_found(repr(path.name)) if gone else errors.storage_failed(error)
        return item.model_copy(update={"error": known.info}), ""
    named = {"source": STORED + sha256, "name": shown_name(path.name)}
    return item.model_copy(update=named), sha256


async def _store_file(settings: Settings, store: Store, path: Path) -> str:
    """The hash of the document's bytes, which are then in the store."""
    if await asyncio.to_thread(check_file, path, settings.max_file_size) == "image":
        return await store_images(store, [path])
    sha256 = await asyncio.to_thread(hash_file, path)
    await store.put_file(source_key(sha256), path)
    return sha256
