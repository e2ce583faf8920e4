"""What a source is, once it has been fetched."""

from dataclasses import dataclass
from typing import Literal

# Before the hash of what is in the store already.
STORED = "store:"
FileKind = Literal["pdf", "image"]


@dataclass(frozen=True)
class Fetched:
    """A checked file on this machine."""

    path: str
    kind: FileKind
    sha256: str
