"""What a source is, once it has been fetched."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# Before the hash of what is in the store already.
STORED = "store:"

FileKind = Literal["pdf", "image"]


@dataclass(frozen=True)
class Fetched:
    """A checked file on this machine."""

    path: Path
    kind: FileKind
    sha256: str
