"""A disk of a few megabytes that can be full: a tmpfs in a mount namespace of its own."""

import functools
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

_HOLD = 'mount -t tmpfs -o size="$1" none "$2" && echo mounted && exec sleep 1000'


@functools.cache
def can_mount() -> bool:
    """Whether this machine lets its users mount in a namespace of their own."""
    trial = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(trial, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


class SmallDisk:
    """Mounted at a folder, for the commands that are run by `enter` alone."""

    def __init__(self, folder: Path, size: str = "4m") -> None:
        self.folder = folder
        self._size = size

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._holder = subprocess.Popen(
            ["unshare", "-rm", "sh", "-c", _HOLD, "sh", self._size, str(self.folder)],
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == b"mounted\n"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._holder.kill()
        self._holder.communicate()

    @property
    def enter(self) -> tuple[str, ...]:
        """What to put before a command that shall see this disk."""
        target = str(self._holder.pid)
        return ("nsenter", "-t", target, "-U", "-m", "--preserve-credentials", "--")

    @property
    def seen_from_outside(self) -> Path:
        """The disk's folder, for processes that are not inside."""
        return Path(f"/proc/{self._holder.pid}/root{self.folder}")

    def fill(self) -> None:
        """Leave no room."""
        with self._filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def make_room(self) -> None:
        """Undo `fill`."""
        self._filler.unlink()

    def files(self) -> list[str]:
        """All files on the disk but the filler, by their paths below its folder."""
        place = self.seen_from_outside
        found = [path for path in place.rglob("*") if path.is_file() and path != self._filler]
        return sorted(str(path.relative_to(place)) for path in found)

    @property
    def _filler(self) -> Path:
        return self.seen_from_outside / "filler"
