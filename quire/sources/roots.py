"""Which files of this machine a worker may read."""

from collections.abc import Sequence
from pathlib import Path

from quire.domain import errors


def under_roots(path: Path, roots: Sequence[str]) -> Path:
    """The file itself, with symbolic links resolved; refused unless it is under one of the roots.
    Whether a file outside exists is not revealed."""
    try:
        found = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, or a name that cannot be one
        raise errors.outside_roots() from None
    if not path.is_absolute() or not any(
        found.is_relative_to(Path(root).resolve()) for root in roots
    ):
        raise errors.outside_roots()
    return found
