"""What a tree of processes costs: CPU seconds and peak memory, read from `/proc`."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from testing.cluster import children_of

_TICK = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
# Looking is work too: twice a second costs about a fiftieth of a core.
LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Cpu:
    """CPU seconds so far: of a process itself, and of all below it, also those that ended."""

    own: float
    children: float

    def since(self, before: "Cpu") -> "Cpu":
        return Cpu(self.own - before.own, self.children - before.children)

    @property
    def total(self) -> float:
        return self.own + self.children


def cpu_of(pid: int) -> Cpu:
    """A child that ended is in its parent's count from the moment it is waited for, so nothing
    is counted twice and nothing is lost."""
    own, ended = _times(pid)
    below = sum(sum(_times(child)) for child in children_of(pid))
    return Cpu(own, ended + below)


def _times(pid: int) -> tuple[float, float]:
    """Of the process, and of its children that were waited for."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return 0.0, 0.0
    user, system, of_children, system_of_children = map(int, stat.rpartition(")")[2].split()[11:15])
    return (user + system) / _TICK, (of_children + system_of_children) / _TICK


def machine_s() -> float:
    """CPU seconds of the whole machine since it started, by any process: all but idle time and
    waiting for a disk. What a hypervisor took away counts: it was not there to be had."""
    _name, *ticks = (_PROC / "stat").read_text().partition("\n")[0].split()
    user, nice, system, _idle, _waiting, *others = map(int, ticks[:8])
    return (user + nice + system + sum(others)) / _TICK


def megabytes(amount: int | None) -> float | None:
    """Of a million bytes, as everywhere in the reports; what could not be read stays unknown."""
    return None if amount is None else amount / 1e6


def memory_of(pid: int) -> int | None:
    """Bytes of the process and all below it; pages that they share count once (PSS). None where
    that cannot be read, which is not the same as nothing."""
    own = _memory(pid)
    return None if own is None else own + sum(_memory(one) or 0 for one in children_of(pid))


def _memory(pid: int) -> int | None:
    try:
        rollup = (_PROC / str(pid) / "smaps_rollup").read_text()
        return int(rollup.split("\nPss:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        return None


def forget_peak(pid: int) -> bool:
    """Let the kernel start over with a process's highest memory; False where it does not."""
    try:
        (_PROC / str(pid) / "clear_refs").write_text("5")
    except OSError:
        return False
    return True


def own_peak(pid: int) -> int | None:
    """The most resident memory (RSS) that the process alone had since `forget_peak`."""
    try:
        status = (_PROC / str(pid) / "status").read_text()
        return int(status.split("\nVmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        return None


class PeakTree:
    """`with PeakTree(pid) as peak: ...`; then `peak.bytes` is the most the tree had at once."""

    def __init__(self, pid: int, every_s: float = LOOK_EVERY_S) -> None:
        self.bytes: int | None = None
        self._pid = pid
        self._every_s = every_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def _watch(self) -> None:
        self._look()
        while not self._done.wait(self._every_s):
            self._look()

    def _look(self) -> None:
        now = memory_of(self._pid)
        if now is not None:
            self.bytes = max(self.bytes or 0, now)

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
        self._look()
