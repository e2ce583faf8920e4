"""What may go from a store: what is old, or least lately used; never what open documents need."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from quire.contracts.reading import ReadingOptions
from quire.contracts.stored import Brief, ImageManifest, ImagePage
from quire.domain.document.keys import answer_key, brief_key, source_key, survey_key, text_key
from quire.domain.document.open_documents import OpenDocuments
from quire.ports import Store
from quire.store.folder import FolderStore
from quire.store.remove_unused import Removal, Rule, remove_unused

OPEN, CLOSED, IMAGE = "a" * 64, "b" * 64, "c" * 64
HOUR, DAY = 3600.0, 86400.0
BRIEF = Brief(
    job_id="open", sha256=OPEN, page_count=1, reading=ReadingOptions(system_prompt=""), routes=()
)
THEIRS = (
    source_key(OPEN), source_key(IMAGE), survey_key(OPEN, 0), answer_key(OPEN, 1, "", "", ""),
    brief_key("open"),
)  # fmt: skip
OTHERS = (
    source_key(CLOSED), survey_key(CLOSED, 0), answer_key(CLOSED, 1, "", "", ""),
    brief_key("closed"), text_key(CLOSED), f"quarantine/{OPEN}/1/answers/x.json",
)  # fmt: skip


@pytest.fixture
async def store(tmp_path: Path) -> FolderStore:
    store = FolderStore(tmp_path)
    for key in (*THEIRS, *OTHERS, "keys/signing", "somebody's file"):
        await store.put(key, b"x" * 1000)
    manifest = ImageManifest(quire_pages=(ImagePage(IMAGE, 0),))
    await store.put(source_key(OPEN), manifest.model_dump_json().encode())
    for name in ("open", "closed"):
        brief = BRIEF.model_copy(update={"job_id": name})
        await store.put(brief_key(name), brief.model_dump_json().encode())
    return store


def age(store: FolderStore, keys: Iterable[str], seconds: float) -> None:
    then = time.time() - seconds
    for key in keys:
        os.utime(store.root / key, (then, then))


async def find_open() -> OpenDocuments:
    return OpenDocuments(frozenset({"open"}), frozenset({OPEN}))


async def find_none() -> OpenDocuments:
    return OpenDocuments()


async def left(store: Store) -> set[str]:
    return {entry.key async for entry in store.entries()}


async def test_what_open_documents_need_stays_whatever_its_age(store: FolderStore) -> None:
    age(store, await left(store), 40 * DAY)
    dry = await remove_unused(store, Rule(keep_s=30 * DAY, dry_run=True), find_open)
    assert len(await left(store)) == len(THEIRS) + len(OTHERS) + 2
    age(store, await left(store), 40 * DAY)
    removal = await remove_unused(store, Rule(keep_s=30 * DAY), find_open)
    assert removal == dry
    assert removal.spared.objects == len(THEIRS)
    assert await left(store) == {*THEIRS, "keys/signing", "somebody's file"}
    age(store, await left(store), 40 * DAY)
    await remove_unused(store, Rule(keep_s=30 * DAY), find_none)
    assert await left(store) == {"keys/signing", "somebody's file"}


async def test_what_is_used_between_list_and_removal_stays(store: FolderStore) -> None:
    age(store, await left(store), 40 * DAY)

    async def find_and_use() -> OpenDocuments:
        assert await store.get(text_key(CLOSED))
        return OpenDocuments()

    await remove_unused(store, Rule(keep_s=30 * DAY), find_and_use)
    assert text_key(CLOSED) in await left(store)
    assert source_key(CLOSED) not in await left(store)


async def test_least_lately_used_goes_first_until_the_limit_is_kept(store: FolderStore) -> None:
    for days, key in enumerate((*OTHERS, *THEIRS), 1):
        age(store, [key], days * DAY)
    size = sum([entry.bytes async for entry in store.entries()]) - 2000

    async def tend(limit: int) -> Removal:
        return await remove_unused(store, Rule(limit=limit), find_open)

    assert (await tend(size)).kinds == {}
    oldest = OTHERS[-1]
    removal = await tend(size - 500)
    assert (removal.size, removal.kinds["quarantine"].objects) == (size, 1)
    assert await left(store) == {*THEIRS, *OTHERS, "keys/signing", "somebody's file"} - {oldest}
    await tend(1)
    assert await left(store) == {*THEIRS, "keys/signing", "somebody's file"}


async def test_what_is_young_stays_for_any_limit(store: FolderStore) -> None:
    age(store, await left(store), 0.9 * HOUR)
    assert (await remove_unused(store, Rule(limit=1), find_none)).kinds == {}
