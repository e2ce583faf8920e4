"""A text as words that can be compared, whatever its order, case, marks and blanks."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from quire.domain.layout.script import column_letters

# A number keeps its separators: 1.234 is not 1,234.
_WORD = re.compile(r"\d+(?:[.,:/'-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
# Scripts without blanks between words: by pairs of letters. Thai, Lao, Khmer, Burmese.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
# In a shorter word chance finds itself anywhere.
_FINDABLE = 4
# No page of print has so much; more would take a hostile page's time.
_LONGEST = 60_000


@dataclass(frozen=True)
class Words:
    """The words of a text, each as often as it stands there; and all its letters in order, since
    engines join words and tear them apart."""

    counts: Counter[str]
    stream: str

    @cached_property
    def letters(self) -> int:
        """How much text this is."""
        return sum(len(word) * count for word, count in self.counts.items())


def words_of(text: str) -> Words:
    """The words and numbers of a text, in one spelling."""
    plain = unicodedata.normalize("NFKC", text[:_LONGEST]).casefold().replace("\u00ad", "")
    found = _WORD.findall(plain)
    return Words(Counter(part for word in found for part in _parts(word)), "".join(found))


def is_number(word: str) -> bool:
    """Whether it is a number, which a reader must be able to trust to the last digit."""
    return word[0].isdigit()


def missing(words: Words, other: Words) -> Counter[str]:
    """The words that the other text lacks; it must have each as often."""
    return Counter(
        {
            word: lost
            for word, count in (words.counts - other.counts).items()
            if (lost := count - _joined(word, other)) > 0
        }
    )


def _joined(word: str, other: Words) -> int:
    """How often the other text has the word as a part of longer ones."""
    if is_number(word) or len(word) < _FINDABLE:
        return 0
    return other.stream.count(word) - other.counts[word]


def share_found(words: Words, other: Words) -> float:
    """Which share of the letters of these words the other text has."""
    if not words.letters:
        return 1.0
    lost = sum(len(word) * count for word, count in missing(words, other).items())
    return 1.0 - lost / words.letters


def _parts(word: str) -> list[str]:
    if not (column_letters(word) or _UNSPACED.search(word)) or len(word) < 2:
        return [word]
    return [first + second for first, second in pairwise(word)]
