"""Files whose bytes are known to be those of their name."""

import asyncio
import hashlib
from collections import OrderedDict
from pathlib import Path
from weakref import WeakValueDictionary

from quire.threads import Dependency, TimeLimit, threads_of

KEPT = 1000
# Inode, size and time of modification: whoever changes a file changes one of them.
_Mark = tuple[int, int, int]


class FileChecks:
    """Hashes a file once, and again when it was changed: a large document is opened for each of
    its pages."""

    def __init__(self) -> None:
        self._whole: OrderedDict[Path, _Mark] = OrderedDict()
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    async def is_whole(self, path: Path, sha256: str) -> bool:
        """Whether the file has this hash; one that is gone meanwhile has not."""
        lock = self._locks.setdefault(path, asyncio.Lock())
        # Pages that are drawn at the same time wait for one hash.
        async with lock:
            try:
                mark = _mark(path)
                if self._whole.get(path) == mark:
                    self._whole.move_to_end(path)
                    return True
                found = await hash_in_thread(path)
            except (FileNotFoundError, IsADirectoryError):
                return False
            if found != sha256:
                return False
            self._whole[path] = mark
            while len(self._whole) > KEPT:
                self._whole.popitem(last=False)
            return True


async def hash_in_thread(path: Path) -> str:
    """The same as `hash_of`, beside the event loop."""
    limit = TimeLimit()
    return await threads_of(Dependency.STORE_FILES).run(_hash_within, path, limit, limit=limit)


def _hash_within(path: Path, limit: TimeLimit) -> str:
    limit.allow_bytes(path.stat().st_size)
    return hash_of(path)


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, which is read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mark(path: Path) -> _Mark:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
