"""Files of a store in S3, kept on this machine while they are used."""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quire.domain import errors

# A file may be opened until this long after its last request; a survey requests it for each chunk.
KEEP_S = 15 * 60.0
_STALE_PART_S = 3600.0
_PART = ".part-"


class FileCache:
    """Removes the files used longest ago; a file in use stays, even if the cache overflows.

    Several workers may share the folder without knowing of each other: files appear by renaming,
    and every use sets the time of access. The time of modification stays: it tells a file that was
    verified from one that was changed since.
    """

    def __init__(self, root: Path, max_bytes: int, *, keep_s: float = KEEP_S) -> None:
        self.root = root
        self._max_bytes = max_bytes
        self._keep_s = keep_s
        self._locks: dict[str, tuple[threading.Lock, int]] = {}
        self._guard = threading.Lock()

    def find(self, key: str) -> Path | None:
        """The file if it is here, which counts as a use."""
        target = self.root / key
        return target if _touch(target) else None

    def get(self, key: str, fetch: Callable[[Path], bool]) -> Path | None:
        """The file, fetched if it is not here; None when `fetch` returns False."""
        target = self.root / key
        # The cache is in the state folder.
        with self._locked(key), errors.disk_errors("STATE_DIR", self.root):
            if _touch(target):
                return target
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=_PART)
            os.close(handle)
            part = Path(name)
            try:
                if not fetch(part):
                    return None
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        self.clean()
        return target

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """One fetch of a key at a time. Each key has its own lock: a slow fetch delays no other."""
        with self._guard:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = (lock, users - 1)

    def clean(self) -> int:
        """Remove what exceeds the limit; returns the number of bytes removed."""
        now = time.time()
        files: list[tuple[float, int, Path]] = []
        for path in self.root.rglob("*"):
            with suppress(FileNotFoundError):
                if path.is_file():
                    stat = path.stat()
                    files.append((max(stat.st_atime, stat.st_mtime), stat.st_size, path))
        excess = sum(size for _, size, _ in files) - self._max_bytes
        gone = 0
        for used, size, path in sorted(files):
            unused_s = now - used
            part = path.name.startswith(_PART)
            if (part and unused_s > _STALE_PART_S) or (
                not part and gone < excess and unused_s > self._keep_s
            ):
                path.unlink(missing_ok=True)
                gone += size
        return gone


def _touch(path: Path) -> bool:
    try:
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
    except FileNotFoundError:
        return False
    return True
