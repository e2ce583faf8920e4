"""What a text layer and a reading of the page's picture have in common, and what not."""

import difflib
from collections import Counter
from collections.abc import Iterator

from quire.contracts.judgement import Difference, Disagreement
from quire.domain.judgement.language import is_language, is_small_word
from quire.domain.judgement.words import Words, is_number, missing, share_found, words_of

# No more than a person would look at.
_MOST_SHOWN = 20
# Models leave out running heads and page numbers, as they are told: lines at the edges.
_EDGE_LINES, _EDGE_WORDS, _LINES_OF_A_PAGE = 2, 12, 9
# Numbers of a page, from which on a share of them says something.
_SOME_NUMBERS = 4
# An answer with less of the layer's telling words, of which the layer has less than that, is not
# the page's. Other texts in the page's language share some of them by chance.
_HARDLY_ANY, _FEW = 0.15, 0.25
_TELLING, _ENOUGH_LETTERS = 3, 120


def compare(layer: str, reading: str) -> Disagreement:
    """What the reading lacks of the layer, beside what it has in its place."""
    ours, theirs = words_of(layer), words_of(reading)
    lacks, added = missing(ours, theirs), missing(theirs, ours)
    return Disagreement(
        score=round(1.0 - share_found(ours, theirs), 3),
        differs=tuple(_pairs(lacks, added))[:_MOST_SHOWN],
    )


def agreement(layer: str, reading: str) -> float:
    """Which share of the layer the reading has, running heads aside. A number that was changed
    counts as one of the numbers, and not as one of all words."""
    ours, theirs = words_of(_body(layer)), words_of(reading)
    numbers = sum(count for word, count in ours.counts.items() if is_number(word))
    share = share_found(ours, theirs)
    if numbers < _SOME_NUMBERS:
        return share
    changed = sum(
        1
        for pair in _pairs(missing(ours, theirs), missing(theirs, ours))
        if pair.reading and is_number(pair.layer)
    )
    return min(share, 1.0 - changed / numbers)


def is_unrelated(layer: str, reading: str) -> bool:
    """Whether the reading has nothing to do with a layer that surely is a text."""
    ours = words_of(layer)
    if not is_language(ours):
        return False
    ours, theirs = _telling(ours), _telling(words_of(reading))
    if ours.letters < _ENOUGH_LETTERS:
        return False
    return share_found(ours, theirs) < _HARDLY_ANY and (
        not theirs.letters or share_found(theirs, ours) < _FEW
    )


def _telling(words: Words) -> Words:
    """Without the small words, which any two texts of a language share."""
    kept = {
        word: count
        for word, count in words.counts.items()
        if is_number(word) or (len(word) >= _TELLING and not is_small_word(word))
    }
    # Where words are pairs of letters, none of them is long.
    return Words(Counter(kept or words.counts), words.stream)


def _body(text: str) -> str:
    """The text without its running heads, if it is long enough to have some."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < _LINES_OF_A_PAGE:
        return text
    edges = {*range(_EDGE_LINES), *range(len(lines) - _EDGE_LINES, len(lines))}
    kept = [
        line
        for place, line in enumerate(lines)
        if place not in edges or len(line.split()) > _EDGE_WORDS
    ]
    return "\n".join(kept)


def _pairs(lacks: Counter[str], added: Counter[str]) -> Iterator[Difference]:
    """Numbers first, each beside what most resembles it among what was added."""
    for numbers in (True, False):
        ours = sorted(word for word in lacks.elements() if is_number(word) is numbers)
        left = sorted(word for word in added.elements() if is_number(word) is numbers)
        for word in ours[: 2 * _MOST_SHOWN]:
            near = difflib.get_close_matches(word, left[: 2 * _MOST_SHOWN], 1, cutoff=0.5)
            if near:
                left.remove(near[0])
            yield Difference(layer=word, reading=near[0] if near else "")
