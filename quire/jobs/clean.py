"""Removes objects that were not used for long from the store and, on request, results.

What open documents need stays, whatever its age: the server is asked for it.
"""

import asyncio
from dataclasses import dataclass, field

from quire.app.parts import open_cache, open_store
from quire.domain.document.open_documents import OpenDocuments
from quire.jobs.session import open_jobs
from quire.settings import Settings
from quire.store.places import open_place
from quire.store.remove_unused import YOUNGEST_S, Removed, Rule, remove_unused
from quire.temporal.embedded import has_database
from quire.temporal.open_documents import find_open_documents


@dataclass(frozen=True)
class CleanRequest:
    """What to remove."""

    older_than_s: float
    dry_run: bool = False
    results: bool = False
    # Do not ask the server: what open documents need goes, too.
    offline: bool = False


@dataclass(frozen=True)
class CleanOutcome:
    """What was removed, or would be removed; its fields are those of the JSON."""

    dry_run: bool
    objects: int
    bytes: int
    kinds: dict[str, Removed]
    cache_bytes: int
    # Old enough, and kept for documents that are open.
    spared: Removed = field(default=Removed(0, 0))


async def clean_store(settings: Settings, request: CleanRequest) -> CleanOutcome:
    """Remove old objects of the store and the cache, and old results if the request says so."""
    if request.older_than_s < YOUNGEST_S:
        raise ValueError("running documents need what is younger than 1h")

    async def find_open() -> OpenDocuments:
        # Without a database there never was a document.
        if request.offline or not (settings.cluster or has_database(settings.state_dir)):
            return OpenDocuments()
        async with open_jobs(settings, roles=()) as jobs:
            return await find_open_documents(jobs.client)

    rule = Rule(keep_s=request.older_than_s, dry_run=request.dry_run)
    removal = await remove_unused(open_store(settings), rule, find_open)
    kinds = dict(removal.kinds)
    if request.results:
        place = open_place(settings.results_place, open_cache(settings))
        kinds |= (await remove_unused(place, rule, _none, lambda key: "results")).kinds
    cached = 0 if request.dry_run else await asyncio.to_thread(open_cache(settings).clean)
    return CleanOutcome(
        dry_run=request.dry_run,
        objects=sum(removed.objects for removed in kinds.values()),
        bytes=sum(removed.bytes for removed in kinds.values()),
        kinds={kind: kinds[kind] for kind in sorted(kinds)},
        cache_bytes=cached,
        spared=removal.spared,
    )


async def _none() -> OpenDocuments:
    """A result is no open document's: it is written at the end."""
    return OpenDocuments()
