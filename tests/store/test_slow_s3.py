"""A bucket whose objects drip: whoever waits for one waits for that one only, and not for ever."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.domain.errors import DocumentRefused
from quire.sources.fetch import OriginFetcher
from quire.store.cache import FileCache
from quire.store.s3 import S3Store
from quire.store.s3_client import s3_client
from quire.threads import SIZES, Dependency, TooSlow, threads_of
from testing.s3 import BUCKET, S3Server
from testing.slow_s3 import DrippingS3
from testing.wait import wait_until

pytestmark = pytest.mark.servers
FILES = threads_of(Dependency.STORE_FILES)
SMALL = threads_of(Dependency.STORE)


@pytest.fixture
def slow(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[DrippingS3]:
    with DrippingS3(s3.url, "/slow-") as proxy:
        for name, value in proxy.settings.items():
            monkeypatch.setenv(name, value)
        s3_client.cache_clear()
        yield proxy
    s3_client.cache_clear()


@pytest.fixture
def store(slow: DrippingS3, tmp_path: Path) -> S3Store:
    return S3Store(BUCKET, tmp_path.name, FileCache(tmp_path / "cache", 10**9))


async def test_dripping_files_stop_nothing_else(
    store: S3Store, slow: DrippingS3, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"document" * 1000)
    await store.put_file("here", tmp_path / "file")
    await store.put_file("elsewhere", tmp_path / "file")
    assert await store.local_path("here")
    many = SIZES[Dependency.STORE_FILES]
    for number in range(many):
        await store.put_file(f"slow-{number}", tmp_path / "file")
    # Many wait for one file, as pages of a document do: they share one download, and one thread.
    waiting = [asyncio.create_task(store.local_path("slow-0")) for _ in range(2 * many)]
    waiting += [asyncio.create_task(store.local_path(f"slow-{n}")) for n in range(1, many - 1)]
    await asyncio.to_thread(wait_until, lambda: slow.dripping >= many - 1)
    async with asyncio.timeout(20):
        assert await store.put("answer", b"text")
        assert await store.get("answer") == b"text"
        assert await store.local_path("here")
        assert await store.local_path("elsewhere"), "one thread is left for files"
    # The first that leaves does not take the download with it; the last one does.
    waiting[0].cancel()
    await asyncio.sleep(0.5)
    assert slow.dripping == many - 1
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    wait_until(lambda: FILES.busy == 0, timeout=10)
    assert not list((tmp_path / "cache").rglob(".part-*"))


async def test_a_dripping_object_ends_by_its_total_time(
    store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Written before the limit is lowered: a first write also builds the client, which may take
    # longer than a second on a busy machine.
    await store.put("slow-answer", b"text" * 1000)
    monkeypatch.setattr("quire.threads.TimeLimit.__init__.__defaults__", (1.0,))
    began = time.monotonic()
    with pytest.raises(TooSlow):
        await store.get("slow-answer")
    assert time.monotonic() - began < 10
    wait_until(lambda: SMALL.busy == 0, timeout=10)


async def test_a_dripping_origin_ends_by_its_total_time(
    s3: S3Server, slow: DrippingS3, tmp_path: Path
) -> None:
    s3.client().put_object(Bucket=BUCKET, Key=f"slow-{tmp_path.name}.pdf", Body=b"%PDF" * 1000)
    origins = OriginFetcher(max_bytes=10**6, time_limit_s=1.0, allow_private=False)
    before, began = threading.active_count(), time.monotonic()
    url = f"s3://{BUCKET}/slow-{tmp_path.name}.pdf"
    with pytest.raises(DocumentRefused, match="did not arrive within 1 seconds"):
        await origins.fetch(url, "", tmp_path)
    assert time.monotonic() - began < 10
    reading = asyncio.create_task(origins.fetch(url, "", tmp_path))
    await asyncio.to_thread(wait_until, lambda: slow.dripping)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    wait_until(lambda: threads_of(Dependency.ORIGINS).busy == 0, timeout=10)
    # The dripping server's own threads, which are of this process too, end with their connections.
    wait_until(lambda: threading.active_count() <= before + 2, timeout=20)


async def test_a_halt_is_noticed_long_before_the_limit(
    s3: S3Server, slow: DrippingS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.threads.STALL_S", 1.0)
    s3.client().put_object(Bucket=BUCKET, Key=f"slow-{tmp_path.name}.pdf", Body=b"%PDF" * 1000)
    origins = OriginFetcher(max_bytes=10**6, time_limit_s=600, allow_private=False)
    async with asyncio.timeout(20):
        with pytest.raises(DocumentRefused, match="next to nothing"):
            await origins.fetch(f"s3://{BUCKET}/slow-{tmp_path.name}.pdf", "", tmp_path)
    wait_until(lambda: threads_of(Dependency.ORIGINS).busy == 0, timeout=10)
