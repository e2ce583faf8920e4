"""How much memory processes and their children have."""

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def memory_of(*roots: int) -> tuple[int, int]:
    """Bytes and number of these processes and all below them; 0 where that cannot be read. Memory
    that processes share counts once."""
    children = _children()
    family, waiting = set[int](), [pid for pid in roots if pid]
    while waiting:
        pid = waiting.pop()
        if pid not in family:
            family.add(pid)
            waiting += children[pid]
    sizes = [size for pid in family if (size := _share_of(pid))]
    return sum(sizes), len(sizes)


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for path in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name, which may hold anything, is in brackets.
            parent = int(path.read_text(errors="replace").rpartition(")")[2].split()[1])
            found[parent].append(int(path.parent.name))
    return found


def _share_of(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
