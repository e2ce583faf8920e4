"""One letter a document: where each one of a batch stands, in a text that is short in history."""

from collections import Counter

from quire.contracts.batch import BatchCounts, RowStatus
from quire.contracts.batch_status import DocumentWord

WAITING = "."
RUNNING = ">"
WORDS: dict[str, DocumentWord] = {
    WAITING: "waiting",
    RUNNING: "running",
    "d": "done",
    "g": "degraded",
    "f": "failed",
    "c": "cancelled",
    "n": "not_started",
}
_LETTERS = {word: letter for letter, word in WORDS.items()}
# What a retry redoes.
NOT_GOOD = "gfcn"
# Documents that ended without a text; a cancelled one may have a part of it.
WITHOUT_TEXT = "fcn"


def letter_of(status: RowStatus) -> str:
    """The letter of a document that ended so."""
    return _LETTERS[status]


def counts(letters: str) -> BatchCounts:
    """How many documents are in each state."""
    found = Counter(letters)
    return BatchCounts(**{word: found[letter] for letter, word in WORDS.items()})


def replaced(letters: str, changes: dict[int, str]) -> str:
    """The letters with those of some documents, by their numbers from 1, changed."""
    if not changes:
        return letters
    several = list(letters)
    for number, letter in changes.items():
        several[number - 1] = letter
    return "".join(several)


def numbers_of(letters: str, wanted: str) -> tuple[int, ...]:
    """The documents, by number, whose letter is one of those wanted."""
    return tuple(n for n, letter in enumerate(letters, 1) if letter in wanted)
