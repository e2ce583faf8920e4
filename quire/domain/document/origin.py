"""What a source is, once it has been fetched, and how its name is shown."""

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


def shown_name(name: str) -> str:
    """A file's name as text. Names are bytes: those that are not UTF-8 reach Python as half
    surrogates, which can be neither printed nor sent."""
    return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in name)
