"""The most memory that a process and all below it had at one moment."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cluster import children_of

LOOK_EVERY_S = 0.2


def memory_of(pid: int) -> int:
    """Bytes that one process holds: its proportional share, so that what processes share counts
    once; where the kernel does not tell that, its resident set. None left: 0."""
    process = Path("/proc") / str(pid)
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except ProcessLookupError:
        return 0
    except (OSError, StopIteration):
        return _resident(process)


def _resident(process: Path) -> int:
    try:
        status = (process / "status").read_text()
    except OSError:
        return 0
    return int(status.split("VmRSS:")[1].split()[0]) * 1024 if "VmRSS:" in status else 0


class PeakMemory:
    """Looks at a tree of processes five times a second: `with PeakMemory(pid) as peak: ...`."""

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="peak-memory")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.is_set():
            now = sum(memory_of(pid) for pid in [self._pid, *children_of(self._pid)])
            self.bytes = max(self.bytes, now)
            self._done.wait(LOOK_EVERY_S)
