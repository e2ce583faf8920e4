"""A store in a local folder."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


class FolderStore:
    """Temporary file, fsync, rename: a reader sees a whole object or none, also after a crash."""

    def __init__(self, root: Path) -> None:
        self.root = root

    async def get(self, key: str) -> bytes | None:
        return await asyncio.to_thread(self._get, key)

    def _get(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    async def put(self, key: str, data: bytes) -> None:
        await asyncio.to_thread(self._write, key, lambda file: file.write(data))

    async def exists(self, key: str) -> bool:
        return await asyncio.to_thread(self._path(key).exists)

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        await asyncio.to_thread(self._put_file, key, path, replace)

    def _put_file(self, key: str, path: Path, replace: bool) -> None:
        if not replace and self._path(key).exists():
            return
        with path.open("rb") as source:
            self._write(key, lambda file: shutil.copyfileobj(source, file, 1024 * 1024))

    async def local_path(self, key: str) -> Path | None:
        path = self._path(key)
        return path if await asyncio.to_thread(path.exists) else None

    def describe(self, key: str) -> tuple[str | None, str | None]:
        return str(self._path(key)), None

    def _path(self, key: str) -> Path:
        return self.root / key

    def _write(self, key: str, fill: Callable[[BinaryIO], object]) -> None:
        target = self._path(key)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
