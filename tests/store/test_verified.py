"""What is damaged in a store is never given out: it is set aside, reported, and missing."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from quire.contracts.page import Classification, Usage
from quire.contracts.reading import ReadingOptions
from quire.contracts.results import DocumentReport, ResultMetadata
from quire.contracts.stored import Brief, PageSurvey, StoredAnswer, StoredResult
from quire.domain.document.keys import (
    answer_key,
    brief_key,
    finished_key,
    source_key,
    survey_key,
    text_key,
)
from quire.ports import Damage, Store
from quire.store import quarantine
from quire.store.cache import FileCache
from quire.store.file_checks import hash_of
from quire.store.folder import FolderStore
from quire.store.quarantine import damage_notes
from quire.store.s3 import S3Store
from quire.store.surveys import PAGES
from quire.store.verified import SHAPES, VerifiedStore
from quire.threads import TimeLimit
from testing.s3 import S3Server
from tests.store.test_stores import in_bucket

SHA, OTHER = "a" * 64, "b" * 64
SURVEY = [
    PageSurvey(page=n, classification=Classification.TEXT_ONLY, reason="", text=f"text {n} grüße")
    for n in (1, 2)
]
ANSWER = StoredAnswer(
    text="read by a model", provider="v", model="m", milliseconds=1, usage=Usage()
)
BRIEF = Brief(
    job_id="j", sha256=SHA, page_count=2, reading=ReadingOptions(system_prompt="s"), routes=()
)
META = ResultMetadata(
    total_pages=0, ai_pages=0, text_only_pages=0, pages_done=0, pages_failed=0,
    ai_pages_succeeded=0, ocr_pages=0, mupdf_fallback_count=0, timeout_occurred=False,
    missing_pages=0, result_text_len=0,
)  # fmt: skip
FINISHED = StoredResult(
    report=DocumentReport(
        job_id="j", message="", source="s", sha256=SHA, page_count=0, started_at="",
        completed_at="", metadata=META, pages=(),
    ),
    text_sha256=OTHER,
)  # fmt: skip


class Kind(NamedTuple):
    key: str
    other_key: str
    body: bytes


JSON_KINDS = {
    "surveys": Kind(survey_key(SHA, 0), survey_key(OTHER, 0), PAGES.dump_json(SURVEY)),
    "answers": Kind(
        answer_key(SHA, 1, "r", "v", "m"),
        answer_key(SHA, 2, "r", "v", "m"),
        ANSWER.model_dump_json().encode(),
    ),
    "briefs": Kind(brief_key("one"), brief_key("two"), BRIEF.model_dump_json().encode()),
    "finished": Kind(
        finished_key(SHA, "f"), finished_key(OTHER, "f"), FINISHED.model_dump_json().encode()
    ),
}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "edited": lambda data: data.replace(b"e", b"a", 30),
    "edited by a program": lambda data: json.dumps(json.loads(data)).encode(),
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "of another type": lambda data: b'{"quire": true}',
    "no JSON": lambda data: b"%PDF-1.7 something else",
    "no UTF-8": lambda data: data[:-10] + b"\xff\xfe" + data[-10:],
    "with more behind it": lambda data: data + b"x",
}


class Place(NamedTuple):
    raw: Store
    store: VerifiedStore
    damages: list[Damage]


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.servers)])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    raw: Store = FolderStore(tmp_path / "store")
    if request.param == "s3":
        raw = in_bucket(request.getfixturevalue("s3"), tmp_path, monkeypatch)
    damages: list[Damage] = []
    return Place(raw, VerifiedStore(raw, damages.append), damages)


def never(damage: Damage) -> None:
    pytest.fail(str(damage))


async def quarantined(store: Store) -> list[str]:
    return [entry.key async for entry in store.entries("quarantine/")]


@pytest.mark.parametrize("kind", JSON_KINDS)
@pytest.mark.parametrize("damage", DAMAGES)
async def test_damaged_object_is_set_aside(place: Place, kind: str, damage: str) -> None:
    raw, store, damages = place
    key, _, body = JSON_KINDS[kind]
    await store.put(key, body)
    assert await store.get(key) == body
    damaged = DAMAGES[damage](await raw.get(key) or b"")
    await raw.put(key, damaged)
    assert await store.get(key) is None
    assert not await raw.exists(key)
    (aside,) = await quarantined(raw)
    assert aside.endswith(key)
    assert await raw.get(aside) == damaged, "kept for examination"
    assert [(found.key, found.kind) for found in damages] == [(key, kind)]
    assert await store.put(key, body, replace=False) is True, "made again"
    assert await store.get(key) == body


@pytest.mark.parametrize("kind", JSON_KINDS)
async def test_object_in_place_of_another_is_found_out(place: Place, kind: str) -> None:
    raw, store, _ = place
    key, other_key, body = JSON_KINDS[kind]
    await store.put(other_key, body)
    await raw.put(key, await raw.get(other_key) or b"")
    assert await store.get(key) is None
    assert await store.get(other_key) == body


@pytest.mark.parametrize("kind", JSON_KINDS)
async def test_objects_of_before_are_read_and_ours_by_those_of_before(
    tmp_path: Path, kind: str
) -> None:
    raw = FolderStore(tmp_path)
    store = VerifiedStore(raw, never)
    key, _, body = JSON_KINDS[kind]
    await raw.put(key, body)
    assert await store.get(key) == body
    await store.put(key, body)
    written = await raw.get(key) or b""
    assert SHAPES[kind].validate_json(written) == SHAPES[kind].validate_json(body)
    assert json.loads(written), "and a person can read it"


@pytest.mark.parametrize("damage", ["cut", "emptied", "of another type", "no JSON", "no UTF-8"])
@pytest.mark.parametrize("kind", JSON_KINDS)
async def test_damaged_objects_of_before_are_set_aside(
    tmp_path: Path, kind: str, damage: str
) -> None:
    raw = FolderStore(tmp_path)
    key, _, body = JSON_KINDS[kind]
    await raw.put(key, DAMAGES[damage](body))
    damages: list[Damage] = []
    assert await VerifiedStore(raw, damages.append).get(key) is None
    assert len(damages) == 1


async def test_survey_of_other_pages_from_before_is_found_out(tmp_path: Path) -> None:
    raw = FolderStore(tmp_path)
    await raw.put(survey_key(SHA, 1), JSON_KINDS["surveys"].body)
    assert await VerifiedStore(raw, lambda damage: None).get(survey_key(SHA, 1)) is None


def stored_file(tmp_path: Path, size: int = 5000) -> tuple[Path, str]:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(size))
    return path, hash_of(path)


@pytest.mark.parametrize("name", [source_key, text_key])
@pytest.mark.parametrize("damage", [b"edited" + b"x" * 4994, b"cut", b""])
async def test_damaged_file_is_set_aside_and_fetched_again(
    place: Place, tmp_path: Path, name: Callable[[str], str], damage: bytes
) -> None:
    raw, store, damages = place
    path, sha256 = stored_file(tmp_path)
    key = name(sha256)
    await store.put_file(key, path)
    found = await store.local_path(key)
    assert found is not None
    assert found.read_bytes() == path.read_bytes()
    await raw.put(key, damage)
    (tmp_path / "cache" / key).unlink(missing_ok=True)
    assert await store.local_path(key) is None
    (aside,) = await quarantined(raw)
    assert await raw.get(aside) == damage
    assert await store.local_path(key) is None, "nor from a cache"
    assert [found.kind for found in damages] == [key.partition("/")[0]]
    await store.put_file(key, path)
    found = await store.local_path(key)
    assert found is not None
    assert hash_of(found) == sha256


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("damage", ["cut", "edited"])
async def test_file_put_again_replaces_a_damaged_one(
    place: Place, tmp_path: Path, damage: str, cached: bool
) -> None:
    """Also one of the same size, and where this machine has a good copy: others have none."""
    raw, store, damages = place
    path, sha256 = stored_file(tmp_path)
    key = source_key(sha256)
    if cached:
        await store.put_file(key, path)
        await store.local_path(key)
    await raw.put(key, DAMAGES[damage](path.read_bytes()))
    await store.put_file(key, path)
    assert await raw.get(key) == path.read_bytes()
    assert len(damages) == 1
    await store.put_file(key, path)
    assert len(damages) == 1


@pytest.mark.servers
@pytest.mark.parametrize("size", [0, 5000, 9 * 1024**2])
async def test_bucket_knows_what_it_holds(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """By its own checksum, also of a file that was sent in parts: it is not fetched for that."""
    store = in_bucket(s3, tmp_path, monkeypatch)
    (tmp_path / "file").write_bytes(b"e" * size)
    assert not await store.holds("file", tmp_path / "file")
    await store.put_file("file", tmp_path / "file")
    assert await store.holds("file", tmp_path / "file")
    (tmp_path / "file").write_bytes(b"a" * (size or 1))
    assert not await store.holds("file", tmp_path / "file")


async def test_damaged_copy_in_the_cache_is_only_fetched_again(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = VerifiedStore(in_bucket(s3, tmp_path, monkeypatch), never)
    path, sha256 = stored_file(tmp_path)
    await store.put_file(source_key(sha256), path)
    for _ in range(2):
        found = await store.local_path(source_key(sha256))
        assert found is not None
        assert hash_of(found) == sha256
        found.write_bytes(b"damaged")


async def test_large_file_is_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []

    def count(path: Path) -> str:
        hashed.append(path)
        return hash_of(path)

    monkeypatch.setattr("quire.store.file_checks.hash_of", count)
    cache = FileCache(tmp_path / "cache", 10**9)
    path, sha256 = stored_file(tmp_path)
    store = VerifiedStore(Elsewhere("bucket", "", cache, path), never)
    for _ in range(3):
        assert await store.local_path(source_key(sha256)) is not None
    assert len(hashed) == 1, "though every use is noted on the file"


class Elsewhere(S3Store):
    """A store elsewhere, from which every key gives the same file."""

    def __init__(self, bucket: str, prefix: str, files: FileCache, path: Path) -> None:
        super().__init__(bucket, prefix, files)
        self._path = path

    def _download(self, key: str, part: Path, limit: TimeLimit) -> bool:
        part.write_bytes(self._path.read_bytes())
        return True


async def test_store_that_forbids_deleting_is_written_over(tmp_path: Path) -> None:
    class Kept(FolderStore):
        async def delete(self, key: str) -> None:
            raise PermissionError(13, "no deleting here")

    raw, damages = Kept(tmp_path), list[Damage]()
    store = VerifiedStore(raw, damages.append)
    key, _, body = JSON_KINDS["answers"]
    await raw.put(key, b"cut")
    assert await store.get(key) is None
    assert not damages[0].set_aside
    assert await store.put(key, body, replace=False) is True
    assert await store.get(key) == body


async def test_quarantine_is_bounded_and_told_by_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "MOST_OBJECTS", 3)
    raw = FolderStore(tmp_path)
    store = VerifiedStore(raw, lambda damage: None)
    for page in range(1, 6):
        key = answer_key(SHA, page, "r", "v", "m")
        await raw.put(key, f"cut {page}".encode())
        assert await store.get(key) is None
    assert len(await quarantined(raw)) == 3
    (note,) = await damage_notes(store, SHA, 0.0)
    assert "3 stored objects" in note
    assert "3 of answers" in note
    assert await damage_notes(store, SHA, 10.0**12) == ()
    assert await damage_notes(store, OTHER, 0.0) == ()
