"""Stores by their address: a folder, or `s3://bucket/prefix`."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from quire.ports import Store
from quire.store.cache import FileCache
from quire.store.folder import FolderStore


def open_place(place: str, cache: FileCache) -> Store:
    """The store at this address; nothing is connected yet."""
    if not place.startswith("s3://"):
        return FolderStore(Path(place))
    # Late, since boto3 takes a quarter of a second to import.
    from quire.store.s3 import S3Store

    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    return S3Store(bucket, prefix, cache)


class Results:
    """Where results go: one place for all, or, if nobody named one, each into the bucket its
    source came from, and everything else to the default place."""

    def __init__(self, default: str, cache: FileCache, *, beside_source: bool) -> None:
        self._default = default
        self._beside_source = beside_source
        open_it: Callable[[str], Store] = lambda place: open_place(place, cache)  # noqa: E731
        self._open = lru_cache(maxsize=64)(open_it)

    def place(self, source: str) -> Store:
        """The store for the result of a document from this source."""
        if self._beside_source and source.startswith("s3://"):
            return self._open(f"{source}.quire")
        return self._open(self._default)

    def found(self, url: str | None, key: str) -> Store:
        """The store in which a finished job's `key` is, by the URL in its result."""
        if url is not None and url.endswith(f"/{key}"):
            return self._open(url.removesuffix(f"/{key}"))
        return self._open(self._default)
