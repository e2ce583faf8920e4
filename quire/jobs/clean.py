"""Removes objects that were not used for long from the store and, on request, results."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from quire.app import open_cache, open_store
from quire.domain.document.keys import KINDS
from quire.ports import Entry, Store
from quire.settings import Settings
from quire.store.places import open_place

# Younger objects may belong to a document that is being read.
YOUNGEST_S = 3600.0
AT_ONCE = 16


@dataclass(frozen=True)
class CleanRequest:
    """What to remove."""

    older_than_s: float
    dry_run: bool = False
    results: bool = False


@dataclass(frozen=True)
class Removed:
    """How much of one kind was removed."""

    objects: int
    bytes: int


@dataclass(frozen=True)
class CleanOutcome:
    """What was removed, or would be removed; its fields are those of the JSON."""

    dry_run: bool
    objects: int
    bytes: int
    kinds: dict[str, Removed]
    cache_bytes: int


async def clean_store(settings: Settings, request: CleanRequest) -> CleanOutcome:
    """Remove old objects of the store and the cache, and old results if the request says so."""
    if request.older_than_s < YOUNGEST_S:
        raise ValueError("running documents need what is younger than 1h")
    removed, size = Counter[str](), Counter[str]()
    places = [(open_store(settings), _kind_in_store)]
    if request.results:
        cache = open_cache(settings)
        places.append((open_place(settings.results_place, cache), lambda key: "results"))
    for store, kind_of in places:
        async for kind, entry in _remove(store, kind_of, request):
            removed[kind] += 1
            size[kind] += entry.bytes
    cached = 0 if request.dry_run else await asyncio.to_thread(open_cache(settings).clean)
    return CleanOutcome(
        dry_run=request.dry_run,
        objects=sum(removed.values()),
        bytes=sum(size.values()),
        kinds={kind: Removed(removed[kind], size[kind]) for kind in sorted(removed)},
        cache_bytes=cached,
    )


async def _remove(
    store: Store, kind_of: Callable[[str], str | None], request: CleanRequest
) -> AsyncIterator[tuple[str, Entry]]:
    before = time.time() - request.older_than_s
    batch: list[str] = []
    async for entry in store.entries():
        kind = kind_of(entry.key)
        if kind is None or entry.modified > before:
            continue
        yield kind, entry
        batch.append(entry.key)
        if len(batch) == AT_ONCE:
            await _delete(store, batch, request)
    await _delete(store, batch, request)


async def _delete(store: Store, batch: list[str], request: CleanRequest) -> None:
    keys = list(batch)
    batch.clear()
    if not request.dry_run:
        await asyncio.gather(*(store.delete(key) for key in keys))


def _kind_in_store(key: str) -> str | None:
    kind = key.partition("/")[0]
    return kind if kind in KINDS else None
