"""Who is whose child, read from /proc."""

from pathlib import Path


def descendants(pid: int, depth: int | None = None) -> list[int]:
    """All processes below `pid`, or only those exactly `depth` below; the dead do not count.

    The fork server and the resource tracker stand at depth 1, the children that read at 2.
    """
    parents = dict(filter(None, map(_parent, Path("/proc").glob("[0-9]*"))))
    found: list[int] = []
    level, at = [pid], 0
    while level:
        level = [child for child, parent in parents.items() if parent in level]
        at += 1
        if depth is None or at == depth:
            found += level
    return found


def fork_servers(pid: int) -> list[int]:
    """The processes that multiprocessing forks the children of `pid` from."""
    return [
        child
        for child in descendants(pid, depth=1)
        if b"forkserver" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def alive(pid: int) -> bool:
    """Running, and not merely waiting to be reaped."""
    return _parent(Path(f"/proc/{pid}")) is not None


def _parent(folder: Path) -> tuple[int, int] | None:
    try:
        state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state in "ZX" else (int(folder.name), int(parent))
