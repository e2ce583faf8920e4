"""The script of a text, and which scripts the engine on this machine reads."""

import unicodedata
from collections import Counter

_SAMPLE = 4000
# What the models of the local engine were made for. What they were not comes out as some likely
# letters of these, with scores that are nearly good.
_READ = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH", "HALFWIDTH"})
_NAMES = {"CJK": "Chinese characters", "HANGUL": "Korean"}


def main_script(text: str) -> str:
    """The script that most of the letters are of, as Unicode calls it; empty without letters."""
    found = Counter(
        unicodedata.name(letter, "").partition(" ")[0]
        for letter in text[:_SAMPLE]
        if letter.isalpha()
    )
    return min(found, key=lambda script: (-found[script], script)) if found else ""


def unread_script(text: str) -> str:
    """The script of the text in words, if the local engine cannot read it; else empty."""
    script = main_script(text)
    if not script or script in _READ:
        return ""
    return _NAMES.get(script, script.capitalize())
