"""A store in a local folder."""

import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from quire.domain import errors
from quire.ports import Entry
from quire.threads import Dependency, TimeLimit, store_threads

PART = ".part-"
READ_AT_ONCE = 64 * 1024
# Half of the age below which `clean` removes nothing.
REFRESH_AFTER_S = 1800.0
# A store of years has millions of objects, and is listed whole.
LIST_S = 3600.0
# File systems on disks of this machine. On any other, a call may take as long as a network does,
# and blocking the event loop would stop every heartbeat of the worker.
LOCAL_KINDS = {"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"}


class FolderStore:
    """Writes a temporary file, syncs and renames it: readers see a whole object or none, also after
    a crash."""

    def __init__(self, root: Path, dependency: Dependency = Dependency.STORE) -> None:
        self.root = root
        self._threads, self._file_threads = store_threads(dependency)
        # What names this folder, for errors.
        self._setting = "RESULTS_URL" if dependency is Dependency.RESULTS else "STORE_URL"
        self._quick = is_on_local_disk(root)

    async def get(self, key: str) -> bytes | None:
        """The object, or None."""
        if not self._quick:
            return await self._threads.run(self._get, key)
        # Checking, and reading a small file, takes less time than handing it to a thread.
        try:
            small = self._path(key).stat().st_size <= READ_AT_ONCE
        except FileNotFoundError:
            return None
        return self._get(key) if small else await self._threads.run(self._get, key)

    async def peek(self, key: str) -> bytes | None:
        """The object, or None; this does not count as a use."""
        return await self._threads.run(self._read, key)

    def _get(self, key: str) -> bytes | None:
        data = self._read(key)
        if data is not None:
            self._note_use(key)
        return data

    def _read(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def _note_use(self, key: str) -> None:
        """`clean` goes by age, and this object is in use again."""
        path = self._path(key)
        # It may be gone by now, somebody else's to write, or on a disk that is only read: what was
        # read is good all the same.
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > REFRESH_AFTER_S:
                os.utime(path)

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        """Write the object; False when it exists and `replace` is off."""
        limit = TimeLimit()
        limit.allow_bytes(len(data))
        return await self._threads.run(
            self._write, key, lambda file: file.write(data), replace, limit=limit
        )

    async def exists(self, key: str) -> bool:
        """Whether there is such an object."""
        path = self._path(key)
        return path.exists() if self._quick else await self._threads.run(path.exists)

    async def look(self, key: str) -> Entry | None:
        """The object as a listing shows it, or None."""
        return await self._threads.run(self._look, key)

    def _look(self, key: str) -> Entry | None:
        try:
            stat = self._path(key).stat()
        except FileNotFoundError:
            return None
        return Entry(key, stat.st_size, stat.st_mtime)

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        """Copy a file in; an existing object that may stay only counts as used again."""
        limit = TimeLimit()
        await self._file_threads.run(self._put_file, key, path, replace, limit, limit=limit)

    def _put_file(self, key: str, path: Path, replace: bool, limit: TimeLimit) -> None:
        limit.allow_bytes(path.stat().st_size)
        if not replace:
            with suppress(FileNotFoundError, NotADirectoryError):
                os.utime(self._path(key))  # `clean` goes by age, and this object is in use again
                return
        with path.open("rb") as original:
            self._write(key, lambda file: shutil.copyfileobj(original, file, 1024 * 1024), replace)

    async def holds(self, key: str, path: Path) -> bool:
        """False: a folder keeps no checksums."""
        return False

    async def local_path(self, key: str) -> Path | None:
        """The file of the object, or None."""
        return self._path(key) if await self.exists(key) else None

    def describe(self, key: str) -> tuple[str | None, str | None]:
        """The path of the object, and no URL."""
        return str(self._path(key)), None

    async def link(self, key: str, seconds: int) -> str | None:
        """None: a folder has no links."""
        return None

    async def entries(self, folder: str = "") -> AsyncIterator[Entry]:
        """Every object, or those of a folder, in no order."""
        limit = TimeLimit(LIST_S)
        for entry in await self._file_threads.run(self._entries, folder, limit=limit):
            yield entry

    def _entries(self, folder: str) -> list[Entry]:
        found = []
        for path in (self.root / folder).rglob("*"):
            with suppress(FileNotFoundError):
                stat = path.stat()
                if path.is_file():
                    key = path.relative_to(self.root).as_posix()
                    found.append(Entry(key, stat.st_size, stat.st_mtime))
        return found

    async def delete(self, key: str) -> None:
        """Remove the object and the folders that it leaves empty."""
        await self._threads.run(self._delete, key)

    def _delete(self, key: str) -> None:
        path = self._path(key)
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.root:
                break
            try:
                folder.rmdir()
            except OSError:  # the folder holds other objects
                break

    def _path(self, key: str) -> Path:
        return self.root / key

    def _write(self, key: str, fill: Callable[[BinaryIO], object], replace: bool) -> bool:
        with errors.disk_errors(self._setting, self.root):
            return self._write_whole(key, fill, replace)

    def _write_whole(self, key: str, fill: Callable[[BinaryIO], object], replace: bool) -> bool:
        target = self._path(key)
        part = self._part(target)
        try:
            with part.open("wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            linked = None if replace else _link(part, target)
            if linked is None:
                part.replace(target)
            return linked is not False
        finally:
            part.unlink(missing_ok=True)

    def _part(self, target: Path) -> Path:
        for _ in range(5):
            target.parent.mkdir(parents=True, exist_ok=True)
            # `clean` may remove the empty folder before the first file is in it.
            with suppress(FileNotFoundError):
                handle, name = tempfile.mkstemp(dir=target.parent, prefix=PART)
                os.close(handle)
                return Path(name)
        raise errors.store_folder_vanishes()


def is_on_local_disk(folder: Path, mounts: Path = Path("/proc/mounts")) -> bool:
    """Whether the file system under this folder is known to be this machine's own."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return False
    place, best, kind = folder.resolve(), 0, ""
    for line in lines:
        point, found = line.split()[1:3]
        above = Path(point.replace("\\040", " "))
        # The deepest mount holds the folder; of two at one place, the later hides the earlier.
        if place.is_relative_to(above) and len(above.parts) >= best:
            best, kind = len(above.parts), found
    return kind in LOCAL_KINDS


def _link(part: Path, target: Path) -> bool | None:
    """Give the object its name unless it is taken (False); None where hard links do not work."""
    try:
        os.link(part, target)
    except FileExistsError:
        return False
    except OSError:
        return False if target.exists() else None
    return True
