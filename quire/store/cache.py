"""Files of a store in S3, kept on this machine while they are used."""

import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

# A file may be opened until this long after its last request; a survey requests it for each chunk.
KEEP_S = 15 * 60.0
_STALE_PART_S = 3600.0
_PART = ".part-"


class FileCache:
    """Removes the files used longest ago; a file in use stays, even if the cache overflows.

    Several workers may share the folder without knowing of each other: files appear by renaming,
    and every use sets the modification time.
    """

    def __init__(self, root: Path, max_bytes: int, *, keep_s: float = KEEP_S) -> None:
        self.root = root
        self._max_bytes = max_bytes
        self._keep_s = keep_s
        self._locks = [threading.Lock() for _ in range(16)]

    def get(self, key: str, fetch: Callable[[Path], bool]) -> Path | None:
        """The file, fetched if it is not here; None when `fetch` returns False."""
        target = self.root / key
        with self._locks[hash(key) % len(self._locks)]:
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

    def clean(self) -> int:
        """Remove what exceeds the limit; returns the number of bytes removed."""
        now = time.time()
        files: list[tuple[float, int, Path]] = []
        for path in self.root.rglob("*"):
            with suppress(FileNotFoundError):
                if path.is_file():
                    stat = path.stat()
                    files.append((stat.st_mtime, stat.st_size, path))
        excess = sum(size for _, size, _ in files) - self._max_bytes
        gone = 0
        for modified, size, path in sorted(files):
            unused_s = now - modified
            part = path.name.startswith(_PART)
            if (part and unused_s > _STALE_PART_S) or (
                not part and gone < excess and unused_s > self._keep_s
            ):
                path.unlink(missing_ok=True)
                gone += size
        return gone


def _touch(path: Path) -> bool:
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True
