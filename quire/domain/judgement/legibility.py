"""What an engine's scores mean, and how much of a page it found at all.

Measured on pages of prose, tables and several scripts that were drawn ever more coarsely, blurred,
made noisy and turned: where a page is read rightly its score is above 0.98, upside down it is 0.6.
A page that is too blurred to find its lines has a good score for the one line that was found; so
the letters are weighed against the ink.
"""

from itertools import pairwise

# A score, and the share of words that are right on such a page.
_MEASURED = ((0, 0), (0.62, 0), (0.78, 0.28), (0.9, 0.6), (0.95, 0.81), (0.985, 0.96), (1, 1))
# Where fewer words are right, the others are worth nothing.
_UNREADABLE_BELOW = 0.45
# Letters of a page whose ink covers all of it, at the very least: print has three times as many.
_LETTERS_OF_INK = 15_000
# Less than these shares of the letters were found: the rest is a picture, or was lost.
_HARDLY_ANY, _FEW = 0.02, 0.1
_DOUBTFUL = 0.5


def confidence_of(score: float) -> float:
    """The share of words that are right on a page of this score."""
    for (low, least), (high, most) in pairwise(_MEASURED):
        if score <= high:
            return least + (most - least) * max(0.0, score - low) / (high - low)
    return 1.0


def read_confidence(score: float | None, letters: int, ink: float | None) -> float | None:
    """How far a reading without a text layer beside it can be believed; None without a score."""
    if score is None:
        return None
    share = 1.0 if not ink else letters / (ink * _LETTERS_OF_INK)
    if share < _HARDLY_ANY:
        return 0.0
    found = confidence_of(score)
    return min(found, _DOUBTFUL) if share < _FEW else found


def is_legible(confidence: float | None) -> bool:
    """Whether a reading is a text at all."""
    return confidence is None or confidence >= _UNREADABLE_BELOW
