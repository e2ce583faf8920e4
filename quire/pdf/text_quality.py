"""Whether a text layer is language, or garbage that only looks like text. Pure."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]{4,}")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]+")
_BEYOND_ASCII = re.compile(r"[^ -~\s]|[\x00-\x08\x0e-\x1f]")
_VOWELS = "aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýÿăąęěėēīőūůű"
# No vowel; six consonants in a row; one letter three times in a row; or three changes from lower to
# upper case: errors of OCR change case often within a word, CamelCase only once or twice.
_IMPOSSIBLE = re.compile(
    rf"^[^{_VOWELS}]+$|[^{_VOWELS}\W]{{6}}|(.)\1\1|(?-i:(?:[a-z][A-Z].*){{3}})", re.IGNORECASE
)
_ENOUGH_WORDS = 12
_SAMPLE = 50_000


@dataclass(frozen=True)
class TextQuality:
    """How readable the text layer of a page is."""

    chars: int
    bad_share: float
    odd_word_share: float


def measure_text(text: str) -> TextQuality:
    """Measure the share of unreadable characters and of impossible Latin words."""
    chars = len("".join(text.split()))
    if not chars:
        return TextQuality(0, 0.0, 0.0)
    sample = text[:_SAMPLE]
    rare = Counter(_BEYOND_ASCII.findall(sample))
    bad = sum(count for char, count in rare.items() if _unreadable(char))
    words = [w for w in _WORD.findall(sample) if _LATIN.fullmatch(w)]
    odd = sum(1 for w in words if _impossible(w))
    odd_share = odd / len(words) if len(words) >= _ENOUGH_WORDS else 0.0
    return TextQuality(chars, bad / min(chars, _SAMPLE), odd_share)


def _unreadable(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Co", "Cn", "Cs")


def _impossible(word: str) -> bool:
    acronym = len(word) <= 6 and word.isupper()
    return not acronym and _IMPOSSIBLE.search(word) is not None
