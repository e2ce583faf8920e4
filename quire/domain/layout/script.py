"""Which way a text runs, told by its letters."""

import re
from collections.abc import Iterable

# Kana, bopomofo, ideographs with their punctuation, full-width forms.
_COLUMN_SCRIPTS = re.compile(
    "[\u2e80-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60"
    "\U00020000-\U0003ffff]"
)
# Hebrew, Arabic, Syriac, Thaana, N'Ko and their neighbours, and the shapes of their letters.
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff]")
_LETTERS = re.compile(r"[^\W\d_]")


def column_letters(text: str) -> int:
    """How many characters are of a script that is also written from top to bottom."""
    return 0 if text.isascii() else len(_COLUMN_SCRIPTS.findall(text))


def runs_leftwards(texts: Iterable[str]) -> bool:
    """Whether more of the letters are Hebrew, Arabic and the like than not."""
    text = "".join(texts)
    if text.isascii():
        return False
    leftwards = len(_LEFTWARDS.findall(text))
    return leftwards > 0 and 2 * leftwards > len(_LETTERS.findall(text))


def breadth(text: str) -> int:
    """How much a text says: an ideograph counts as two letters."""
    return len(text) + column_letters(text)
