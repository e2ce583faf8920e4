"""Code points for several letters, or for the shape of one, as the letters themselves."""

import unicodedata
from collections.abc import Iterable
from functools import cache

# Latin and Armenian ligatures, and the shapes of Arabic letters, lam-alef among them.
_RANGES = ((0xFB00, 0xFB06), (0xFB13, 0xFB17), (0xFB50, 0xFDF9), (0xFE70, 0xFEFC))
_FIRST = chr(_RANGES[0][0])


def resolve_ligatures(text: str) -> str:
    """The text with `fi`, `fl` and the like as letters, in the order in which they are read."""
    if text.isascii() or not any(char >= _FIRST for char in text):
        return text
    return text.translate(_table())


@cache
def _table() -> dict[int, str]:
    codes = (code for first, last in _RANGES for code in range(first, last + 1))
    plain = {code: unicodedata.normalize("NFKC", chr(code)) for code in codes}
    # A mark of its own is written on a blank, which would tear its word apart.
    return {code: text for code, text in plain.items() if " " not in text and text != chr(code)}


def mend_expansions(glyphs: Iterable[tuple[str, float]]) -> str:
    """The letters of a line that runs leftwards, given with their widths in the order of reading.

    A glyph of several letters, such as lam-alef, comes as its first letter with the width and the
    others with none. Turning the line around letter by letter has put these before it.
    """
    line: list[str] = []
    waiting: list[str] = []
    for letter, width in glyphs:
        if width <= 0 and unicodedata.category(letter) == "Lo":
            waiting.append(letter)
            continue
        if waiting and unicodedata.category(letter) == "Lo":
            line += [letter, *reversed(waiting)]
        else:
            line += [*waiting, letter]
        waiting = []
    return "".join(line + waiting)
