"""Damage done to the objects of a store in a folder."""

from collections.abc import Callable, Iterable
from pathlib import Path

from quire.store.folder import PART

# Each gives what becomes of an object's bytes, when another object of its kind holds `other`.
DAMAGES: dict[str, Callable[[bytes, bytes], bytes]] = {
    "edited": lambda data, other: data[:-5] + bytes(byte ^ 1 for byte in data[-5:]),
    "cut": lambda data, other: data[: len(data) // 2],
    "emptied": lambda data, other: b"",
    "swapped": lambda data, other: other,
}


def objects(store: Path, kind: str) -> list[Path]:
    """The objects of a kind, but for what is just being written."""
    found = (path for path in (store / kind).rglob("*") if path.is_file())
    return sorted(path for path in found if not path.name.startswith(PART))


def damage(paths: Iterable[Path], how: str, other: bytes = b"") -> int:
    """Damage these objects; returns how many there were."""
    count = 0
    for count, path in enumerate(paths, 1):  # noqa: B007
        path.write_bytes(DAMAGES[how](path.read_bytes(), other))
    return count
