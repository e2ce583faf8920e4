"""Damaged objects, set aside: nothing reads them again, and people can examine them."""

from collections import Counter
from datetime import datetime
from pathlib import Path

from quire.domain.counts import counted
from quire.domain.document.keys import quarantine_folder, quarantine_key
from quire.ports import Entry, Store
from quire.store.file_checks import hash_in_thread

# More than this would be a disaster, of which a sample tells enough.
MOST_OBJECTS = 200
MOST_BYTES = 1024**3
# Clocks of machines differ.
SLACK_S = 60.0


async def set_aside(store: Store, key: str, path: Path) -> None:
    """Keep a copy of the damaged object, of which this file holds the bytes; drop the oldest copies
    where there are too many."""
    digest = await hash_in_thread(path)
    await store.put_file(quarantine_key(key, digest), path, replace=True)
    kept = [entry async for entry in store.entries(quarantine_folder())]
    kept.sort(key=lambda entry: entry.modified)
    size = sum(entry.bytes for entry in kept)
    while len(kept) > MOST_OBJECTS or (size > MOST_BYTES and len(kept) > 1):
        oldest = kept.pop(0)
        size -= oldest.bytes
        await store.delete(oldest.key)


async def damage_notes(store: Store, document: str, since: float) -> tuple[str, ...]:
    """For a document's result: what was set aside of it since its job began."""
    found = [
        _kind(entry)
        async for entry in store.entries(quarantine_folder(document))
        if entry.modified > since - SLACK_S
    ]
    if not found:
        return ()
    kinds = ", ".join(f"{count} of {kind}" for kind, count in sorted(Counter(found).items()))
    what = counted(len(found), "stored object")
    return (f"{what} of this document found damaged, and set aside: {kinds}.",)


def seconds_of(moment: str) -> float:
    """A time as results write it, in seconds since the epoch; what is no time is long ago."""
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return 0.0


def _kind(entry: Entry) -> str:
    """The kind that the object had: its key stands behind the quarantine's own three parts."""
    return entry.key.split("/")[3]
