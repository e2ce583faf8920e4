"""Removes from a store what was not used for long, or least lately, but nothing that open documents
need."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from quire.contracts.stored import LIST_BEGINS, Brief, ImageList, ImageManifest
from quire.domain.document.keys import KINDS, source_key
from quire.domain.document.open_documents import OpenDocuments
from quire.ports import Entry, Store

# Younger objects may belong to a document that has only just begun.
YOUNGEST_S = 3600.0
AT_ONCE = 16
# Larger ones are no lists of page images.
LARGEST_LIST = 4 * 1024**2
# A listing and a look at a single object may round differently.
ROUNDED_S = 2.0
FindOpen = Callable[[], Awaitable[OpenDocuments]]


@dataclass(frozen=True)
class Rule:
    """What may go: objects that were not used for `keep_s`; or the least lately used ones, while
    all of them together are larger than `limit` bytes."""

    keep_s: float | None = None
    limit: int | None = None
    dry_run: bool = False


@dataclass(frozen=True)
class Removed:
    """How much of one kind was removed."""

    objects: int
    bytes: int


@dataclass(frozen=True)
class Removal:
    """What was removed by kind, what was spared for open documents, and how large the store was."""

    kinds: dict[str, Removed]
    spared: Removed
    size: int


def kind_in_store(key: str) -> str | None:
    """The kind of an object; None for what is not the store's to remove."""
    kind = key.partition("/")[0]
    return kind if kind in KINDS else None


async def remove_unused(
    store: Store,
    rule: Rule,
    find_open: FindOpen,
    kind_of: Callable[[str], str | None] = kind_in_store,
) -> Removal:
    """Remove what the rule says. Which documents are open is asked only after the objects are
    listed: a document that begins later has the age of what it uses set anew."""
    entries = [entry async for entry in store.entries() if kind_of(entry.key) is not None]
    size = sum(entry.bytes for entry in entries)
    wanted = _choose(entries, rule, size)
    open_documents = await find_open() if wanted else OpenDocuments()
    needs = await _Needs.of(store, open_documents)
    gone, spared = list[Entry](), list[Entry]()
    excess = size - rule.limit if rule.keep_s is None and rule.limit is not None else None
    for start in range(0, len(wanted), AT_ONCE):
        batch = wanted[start : start + AT_ONCE]
        needed = await asyncio.gather(*(needs.include(entry.key) for entry in batch))
        free = [entry for entry, need in zip(batch, needed, strict=True) if not need]
        spared += [entry for entry, need in zip(batch, needed, strict=True) if need]
        if excess is not None:
            free, excess = _first(free, excess)
        removed = await asyncio.gather(*(_remove(store, entry, rule) for entry in free))
        gone += [entry for entry, was in zip(free, removed, strict=True) if was]
    return Removal(_by_kind(gone, kind_of), _sum(spared), size)


def _choose(entries: Sequence[Entry], rule: Rule, size: int) -> list[Entry]:
    """What the rule lets go, the least lately used first."""
    now = time.time()
    old = sorted(
        (entry for entry in entries if now - entry.modified > YOUNGEST_S),
        key=lambda entry: (entry.modified, entry.key),
    )
    if rule.keep_s is not None:
        return [entry for entry in old if now - entry.modified > (rule.keep_s or 0.0)]
    return old if rule.limit is not None and size > rule.limit else []


def _first(entries: Sequence[Entry], excess: int) -> tuple[list[Entry], int]:
    """As many as the excess asks for, and what is left of it."""
    taken: list[Entry] = []
    for entry in entries:
        if excess <= 0:
            break
        taken.append(entry)
        excess -= entry.bytes
    return taken, excess


async def _remove(store: Store, entry: Entry, rule: Rule) -> bool:
    """Remove an object, unless it was used since it was listed."""
    if rule.dry_run:
        return True
    now = await store.look(entry.key)
    if now is None or now.modified > entry.modified + ROUNDED_S:
        return False
    await store.delete(entry.key)
    return True


class _Needs:
    """What open documents need, page images and briefs included."""

    def __init__(self, store: Store, open_documents: OpenDocuments) -> None:
        self._store = store
        self._open = open_documents

    @classmethod
    async def of(cls, store: Store, open_documents: OpenDocuments) -> "_Needs":
        found = set(open_documents.documents)
        for document in sorted(open_documents.documents):
            found |= await _images_of(store, document)
        return cls(store, OpenDocuments(open_documents.jobs, frozenset(found)))

    async def include(self, key: str) -> bool:
        if self._open.need(key):
            return True
        if not self._open.jobs or not key.startswith("briefs/"):
            return False
        data = await self._store.peek(key)
        try:
            return data is not None and Brief.model_validate_json(data).job_id in self._open.jobs
        except ValidationError:
            return False


async def _images_of(store: Store, document: str) -> set[str]:
    """The page images of a document that is made of them."""
    key = source_key(document)
    found = await store.look(key)
    if found is None or found.bytes > LARGEST_LIST:
        return set()
    data = await store.peek(key) or b""
    try:
        if data.startswith(LIST_BEGINS):
            return set(ImageList.model_validate_json(data).quire_images)
        return {page.sha256 for page in ImageManifest.model_validate_json(data).quire_pages}
    except ValidationError:  # a small PDF
        return set()


def _sum(entries: Sequence[Entry]) -> Removed:
    return Removed(len(entries), sum(entry.bytes for entry in entries))


def _by_kind(entries: Sequence[Entry], kind_of: Callable[[str], str | None]) -> dict[str, Removed]:
    objects, size = Counter[str](), Counter[str]()
    for entry in entries:
        kind = kind_of(entry.key) or ""
        objects[kind] += 1
        size[kind] += entry.bytes
    return {kind: Removed(objects[kind], size[kind]) for kind in sorted(objects)}
