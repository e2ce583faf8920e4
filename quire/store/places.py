"""Stores by their place: a folder, or `s3://bucket/prefix`."""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from quire.ports import Store
from quire.store.cache import FileCache
from quire.store.folder import FolderStore
from quire.threads import Dependency


def open_place(place: str, cache: FileCache, dependency: Dependency = Dependency.STORE) -> Store:
    """The store at this place, with the threads of what it is for; no connection is made yet."""
    if not place.startswith("s3://"):
        return FolderStore(Path(place), dependency)
    # Imported late: boto3 takes a quarter of a second.
    from quire.store.s3 import S3Store

    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    return S3Store(bucket, prefix, cache, dependency)


class Results:
    """Where results go: to the place that a setting names, or else beside a document that came from
    a bucket, and to the default place for all other documents."""

    def __init__(self, default: str, cache: FileCache, *, beside_origin: bool) -> None:
        self._default = default
        self._beside_origin = beside_origin
        open_it: Callable[[str], Store] = partial(
            open_place, cache=cache, dependency=Dependency.RESULTS
        )
        self._open = lru_cache(maxsize=64)(open_it)

    def place(self, source: str) -> Store:
        """The store for the result of a document from this origin."""
        if self._beside_origin and source.startswith("s3://"):
            return self._open(f"{source}.quire")
        return self._open(self._default)

    def found(self, url: str | None, key: str) -> Store:
        """The store that holds a finished job's `key`, by the URL or path in its result."""
        if url is not None and url.endswith(f"/{key}"):
            return self._open(url.removesuffix(f"/{key}"))
        return self._open(self._default)
