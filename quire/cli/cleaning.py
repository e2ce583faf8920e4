"""`clean`: remove what has not been needed for long."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from quire.app import open_cache, open_store
from quire.cli.exits import Exit, UsageError, print_json, say
from quire.domain.document.keys import KINDS
from quire.ports import Entry, Store
from quire.settings import Settings
from quire.store.places import open_place

# Younger things may belong to a document that is being read.
YOUNGEST_S = 3600.0
AT_ONCE = 16


@dataclass(frozen=True)
class Cleaning:
    """What to remove."""

    older_than_s: float
    dry_run: bool = False
    results: bool = False


async def clean(settings: Settings, wanted: Cleaning, *, as_json: bool) -> Exit:
    """Store, cache and, if asked, results. What is removed is made again when it is needed."""
    if wanted.older_than_s < YOUNGEST_S:
        raise UsageError("--older-than: documents under way need what is younger than 1h.")
    removed, size = Counter[str](), Counter[str]()
    places = [(open_store(settings), _kind_in_store)]
    if wanted.results:
        cache = open_cache(settings)
        places.append((open_place(settings.results_place, cache), lambda key: "results"))
    for store, kind_of in places:
        async for kind, entry in _remove(store, kind_of, wanted):
            removed[kind] += 1
            size[kind] += entry.bytes
    cached = 0 if wanted.dry_run else await asyncio.to_thread(open_cache(settings).clean)
    total = sum(removed.values())
    if as_json:
        kinds = {kind: {"objects": removed[kind], "bytes": size[kind]} for kind in sorted(removed)}
        print_json(
            {
                "dry_run": wanted.dry_run,
                "objects": total,
                "bytes": sum(size.values()),
                "kinds": kinds,
                "cache_bytes": cached,
            }
        )
        return Exit.DONE
    verb = "would be removed" if wanted.dry_run else "removed"
    for kind in sorted(removed):
        say(f"{kind}: {removed[kind]} objects, {size[kind]:,} bytes")
    say(f"{total} objects, {sum(size.values()):,} bytes {verb}; {cached:,} bytes of the cache")
    return Exit.DONE


async def _remove(
    store: Store, kind_of: Callable[[str], str | None], wanted: Cleaning
) -> AsyncIterator[tuple[str, Entry]]:
    before = time.time() - wanted.older_than_s
    batch: list[str] = []
    async for entry in store.entries():
        kind = kind_of(entry.key)
        if kind is None or entry.modified > before:
            continue
        yield kind, entry
        batch.append(entry.key)
        if len(batch) == AT_ONCE:
            await _delete(store, batch, wanted)
    await _delete(store, batch, wanted)


async def _delete(store: Store, batch: list[str], wanted: Cleaning) -> None:
    keys = list(batch)
    batch.clear()
    if not wanted.dry_run:
        await asyncio.gather(*(store.delete(key) for key in keys))


def _kind_in_store(key: str) -> str | None:
    kind = key.partition("/")[0]
    return kind if kind in KINDS else None
