"""What a store must do. Keys are relative paths with `/`."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Entry:
    """One object as a listing tells it; `modified` is seconds since the epoch."""

    key: str
    bytes: int
    modified: float


class Store(Protocol):
    """Small objects by key, and documents as files. Writing the same key again is harmless."""

    async def get(self, key: str) -> bytes | None:
        """The object, or None."""
        ...

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        """Write the object whole or not at all; without `replace`, the first writer wins, and
        False says that it was another."""
        ...

    async def exists(self, key: str) -> bool: ...

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        """Copy a file in, streaming; one that exists and may stay only counts as used anew."""
        ...

    async def local_path(self, key: str) -> Path | None:
        """A path on this machine that a child process can open, or None if the key is gone.

        A store that is elsewhere keeps the file here for at least a quarter of an hour.
        """
        ...

    def describe(self, key: str) -> tuple[str | None, str | None]:
        """Where a person finds the object: (local path, URL), one of them."""
        ...

    async def link(self, key: str, seconds: int) -> str | None:
        """A URL that reads the object without credentials for so long, where there are such."""
        ...

    def entries(self) -> AsyncIterator[Entry]:
        """Every object, in no order."""
        ...

    async def delete(self, key: str) -> None:
        """Remove the object; one that is gone already is no error."""
        ...
