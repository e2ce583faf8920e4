"""Texts of surveyed pages: read once, kept while they are few."""

from pathlib import Path

import pytest

from quire.contracts.page import Classification
from quire.contracts.stored import PageSurvey
from quire.domain.document.keys import SURVEY_CHUNK, chunk_pages, survey_key
from quire.store import surveys
from quire.store.folder import FolderStore
from quire.store.surveys import PAGES, SurveyedTexts

SHA = "a" * 64
PAGE_COUNT = 2 * SURVEY_CHUNK + 1


class CountingStore(FolderStore):
    """Counts what is read from it."""

    reads = 0

    async def get(self, key: str) -> bytes | None:
        self.reads += 1
        return await super().get(key)


@pytest.fixture
async def store(tmp_path: Path) -> CountingStore:
    store = CountingStore(tmp_path)
    for chunk in range(3):
        first, last = chunk_pages(chunk, PAGE_COUNT)
        pages = [
            PageSurvey(page=n, classification=Classification.SCANNED, reason="", text=f"text {n}")
            for n in range(first, last + 1)
        ]
        await store.put(survey_key(SHA, chunk), PAGES.dump_json(pages))
    return store


async def test_neighbours_share_a_reading_of_their_chunk(store: CountingStore) -> None:
    texts = SurveyedTexts(store)
    _, border = chunk_pages(0, PAGE_COUNT)
    for page in range(2, border):
        around = await texts.between(SHA, page - 1, page + 1)
        assert around == {n: f"text {n}" for n in range(page - 1, page + 2)}
    assert store.reads == 1
    across = await texts.between(SHA, border, border + 1)
    assert across == {n: f"text {n}" for n in (border, border + 1)}
    assert store.reads == 2


async def test_chunk_that_was_never_surveyed_is_asked_for_again(store: CountingStore) -> None:
    texts = SurveyedTexts(store)
    assert await texts.between("b" * 64, 1, 2) == {}
    assert await texts.between("b" * 64, 1, 2) == {}
    assert store.reads == 2, "it may be there the next time"


async def test_only_so_many_bytes_are_kept(
    store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = len(await store.get(survey_key(SHA, 0)) or b"")
    monkeypatch.setattr(surveys, "KEPT_BYTES", one + 10)
    store.reads = 0
    texts = SurveyedTexts(store)
    for page in (1, SURVEY_CHUNK + 1, 1, 1):
        assert await texts.between(SHA, page, page) == {page: f"text {page}"}
    assert store.reads == 3, "the second chunk drove the first one out, and was driven out"
