"""Every store keeps the same promises, whether it is a folder or a bucket."""

import asyncio
import errno
import os
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quire.domain.errors import DiskFull, QuireError
from quire.ports import Store
from quire.store.cache import FileCache
from quire.store.folder import FolderStore, is_on_local_disk
from quire.store.s3 import S3Store
from quire.store.s3_client import s3_client
from quire.threads import Dependency
from testing.s3 import BUCKET, S3Server


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.servers)])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    if request.param == "folder":
        return FolderStore(tmp_path / "store")
    return in_bucket(request.getfixturevalue("s3"), tmp_path, monkeypatch)


def in_bucket(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket: str = BUCKET
) -> S3Store:
    for name, value in s3.settings.items():
        monkeypatch.setenv(name, value)
    s3_client.cache_clear()
    return S3Store(bucket, f"{tmp_path.name}/deep", FileCache(tmp_path / "cache", 10**9))


async def test_what_was_put_is_there(store: Store) -> None:
    assert await store.get("answers/ab/one.json") is None
    assert not await store.exists("answers/ab/one.json")
    await store.put("answers/ab/one.json", b"first")
    assert await store.get("answers/ab/one.json") == b"first"
    assert await store.exists("answers/ab/one.json")
    await store.put("answers/ab/one.json", b"second")
    assert await store.get("answers/ab/one.json") == b"second"


async def test_without_replace_the_first_writer_wins(store: Store) -> None:
    bodies = [f"writer {n}".encode() * 1000 for n in range(8)]
    wrote = await asyncio.gather(*(store.put("k", body, replace=False) for body in bodies))
    first = await store.get("k")
    assert first in bodies, "whole, and one of them"
    assert [body for body, was_first in zip(bodies, wrote, strict=True) if was_first] == [first]
    assert await store.put("k", b"late", replace=False) is False
    assert await store.get("k") == first
    assert await store.put("k", b"newer") is True


async def test_large_files_go_in_and_out_as_they_are(store: Store, tmp_path: Path) -> None:
    data = os.urandom(20_000_003)
    (tmp_path / "large").write_bytes(data)
    await store.put_file("sources/la/large", tmp_path / "large")
    path = await store.local_path("sources/la/large")
    assert path is not None
    assert path.read_bytes() == data
    assert await store.local_path("sources/no/nothing") is None


async def test_entries_and_delete(store: Store) -> None:
    for number in range(5):
        await store.put(f"surveys/{number}/x.json", b"12345")
    entries = [entry async for entry in store.entries()]
    assert sorted(entry.key for entry in entries) == [f"surveys/{n}/x.json" for n in range(5)]
    assert all(entry.bytes == 5 and abs(time.time() - entry.modified) < 60 for entry in entries)
    await store.delete("surveys/3/x.json")
    await store.delete("surveys/3/x.json")
    assert len([entry async for entry in store.entries()]) == 4


async def test_folder_leaves_no_part_when_writing_fails(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "store")
    with pytest.raises(FileNotFoundError):
        await store.put_file("sources/x", tmp_path / "nowhere")
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


async def test_link_needs_no_credentials(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = in_bucket(s3, tmp_path, monkeypatch)
    await store.put("job/text.txt", "grüße".encode())
    link = await store.link("job/text.txt", 60)
    assert link is not None
    assert await asyncio.to_thread(_read_url, link) == "grüße".encode()
    assert await FolderStore(tmp_path).link("x", 60) is None


async def test_a_bucket_that_is_not_there_is_said_so(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = in_bucket(s3, tmp_path, monkeypatch, "no-such-bucket")
    with pytest.raises(QuireError) as caught:
        await store.get("x")
    assert caught.value.info.reason == "NO_BUCKET"


async def test_wrong_credentials_are_said_so(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = in_bucket(s3, tmp_path, monkeypatch)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    s3_client.cache_clear()
    with pytest.raises(QuireError) as caught:
        await store.get("x")
    assert caught.value.info.reason == "S3_DENIED"
    s3_client.cache_clear()


async def test_a_server_that_is_away_is_an_os_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: S3Server
) -> None:
    store = in_bucket(s3, tmp_path, monkeypatch)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    s3_client.cache_clear()
    with pytest.raises(OSError, match="S3 does not answer"):
        await store.get("x")
    s3_client.cache_clear()


def _read_url(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return bytes(answer.read())


def _fill(size: int, calls: list[Path]) -> Callable[[Path], bool]:
    def fetch(part: Path) -> bool:
        calls.append(part)
        part.write_bytes(b"x" * size)
        return True

    return fetch


def test_cache_drops_what_was_used_longest_ago_but_nothing_in_use(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, 2500, keep_s=100)
    calls: list[Path] = []
    for name in ("a", "b"):
        assert cache.get(name, _fill(1000, calls))
    hour_ago = time.time() - 3600
    os.utime(tmp_path / "a", (hour_ago, hour_ago))
    os.utime(tmp_path / "b", (hour_ago - 60, hour_ago - 60))
    assert cache.get("b", _fill(1000, calls))
    assert len(calls) == 2, "b was here"
    cache.get("c", _fill(1000, calls))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"], "a was oldest"
    cache.get("d", _fill(9000, calls))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["b", "c", "d"], "all in use: too full is better than broken"


def test_cache_fetches_once_for_many(tmp_path: Path) -> None:
    cache, calls = FileCache(tmp_path, 10**6), list[Path]()

    def slow(part: Path) -> bool:
        calls.append(part)
        time.sleep(0.2)
        part.write_bytes(b"whole")
        return True

    threads = [threading.Thread(target=cache.get, args=("k", slow)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert (tmp_path / "k").read_bytes() == b"whole"


def test_cache_keeps_no_part_of_a_failed_fetch(tmp_path: Path) -> None:
    def broken(part: Path) -> bool:
        part.write_bytes(b"half")
        raise OSError("cut")

    with pytest.raises(OSError, match="cut"):
        FileCache(tmp_path, 10**6).get("k", broken)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_and_keeps_no_part(tmp_path: Path) -> None:
    def fill(part: Path) -> bool:
        part.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull, match="state folder"):
        FileCache(tmp_path / "cache", 10**6).get("k", fill)
    store = FolderStore(tmp_path / "results", Dependency.RESULTS)
    with pytest.raises(DiskFull, match="RESULTS_URL"):
        store._write("a/k", lambda file: fill(Path(file.name)), replace=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/vol /srv/shared nfs4 rw 0 0
/dev/sdb1 /srv/shared/disk xfs rw 0 0
host /mnt/two\\040words 9p rw 0 0
tmpfs /over tmpfs rw 0 0
sshfs /over fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "local"),
    [
        ("/home/me/store", True),
        ("/srv/shared/store", False),
        ("/srv/sharedtoo", True),
        ("/srv/shared/disk/store", True),
        ("/mnt/two words/store", False),
        ("/over", False),
    ],
)
def test_only_what_is_known_to_be_local_counts_as_such(
    tmp_path: Path, folder: str, local: bool
) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    assert is_on_local_disk(Path(folder), tmp_path / "mounts") is local
    assert not is_on_local_disk(Path(folder), tmp_path / "absent")


async def test_shared_folder_never_stalls_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.store.folder.is_on_local_disk", lambda root: False)
    store = FolderStore(tmp_path)
    await store.put("k", b"small")
    here, seen = threading.get_ident(), set[int]()
    for name in ("stat", "exists", "read_bytes"):
        original = getattr(Path, name)

        def watched(path: Path, *args: object, original: Any = original, **more: object) -> Any:
            seen.add(threading.get_ident())
            return original(path, *args, **more)

        monkeypatch.setattr(Path, name, watched)
    assert await store.get("k") == b"small"
    assert await store.exists("k")
    assert await store.local_path("k") == tmp_path / "k"
    assert seen, "the file was looked at"
    assert here not in seen


async def test_what_is_on_a_disk_that_is_only_read_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its use cannot be noted there, which is no reason to refuse an old object."""
    store = FolderStore(tmp_path)
    await store.put("job/text.txt", b"text")
    os.utime(tmp_path / "job/text.txt", (0, 0))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("quire.store.folder.os.utime", refuse)
    assert await store.get("job/text.txt") == b"text"
