"""What a store must do. Keys are relative paths with `/`."""

from pathlib import Path
from typing import Protocol


class Store(Protocol):
    """Small objects by key, and documents as files. Writing the same key again is harmless."""

    async def get(self, key: str) -> bytes | None:
        """The object, or None."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Write the object whole or not at all."""
        ...

    async def exists(self, key: str) -> bool: ...

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        """Copy a file in, streaming; nothing is copied when the key exists and may stay."""
        ...

    async def local_path(self, key: str) -> Path | None:
        """A path on this machine that a child process can open, or None if the key is gone."""
        ...

    def describe(self, key: str) -> tuple[str | None, str | None]:
        """Where a person finds the object: (local path, URL), one of them."""
        ...
