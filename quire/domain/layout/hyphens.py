"""Words that the end of a line has torn apart."""

import re

from quire.contracts.reading import Hyphens

SOFT = "\u00ad"
_LETTERS = r"[^\W\d_]"
_HEAD = re.compile(rf"((?:{_LETTERS}|['’])+(?:[-‐](?:{_LETTERS}|['’])+)*)([-‐{SOFT}])[ \t]*$")
_TAIL = re.compile(rf"[ \t]*((?:{_LETTERS}|['’])+)(\S*)[ \t]*")
_COMPOUND = re.compile(rf"{_LETTERS}+(?:[-‐]{_LETTERS}+)+")
_INSIDE = re.compile(rf"(?<={_LETTERS}){SOFT}(?={_LETTERS})")
_AT_END = re.compile(rf"{SOFT}(?=[ \t]*(?:\n|$))")
# Words before which a hyphen stands for the rest of a compound, as in `Vor- und Nachteile`.
_AND = frozenset({"und", "oder", "bzw", "and", "or"})
# What is before such a hyphen is hardly ever a syllable.
_FIRST_WORDS = frozenset({"self", "well"})


def write_hyphens(text: str, hyphens: Hyphens) -> str:
    """The text as the setting wants it."""
    return join_hyphens(text) if hyphens == "join" else keep_hyphens(text)


def keep_hyphens(text: str) -> str:
    """Every line as it stands; a soft hyphen at its end is one that can be seen."""
    if SOFT not in text:
        return text
    return _INSIDE.sub("", _AT_END.sub("-", text)).replace(SOFT, "-")


def join_hyphens(text: str) -> str:
    """Words torn apart by a line's end made whole, at the end of the first line.

    The hyphen goes where it only marks the break. It stays in compounds, and before capitals and
    digits nothing is changed, since both are real hyphens more often than not.
    """
    if not any(mark in text for mark in ("-\n", "- \n", "‐", SOFT)):
        return keep_hyphens(text)
    compounds = {found.lower().replace("‐", "-") for found in _COMPOUND.findall(text)}
    lines = text.split("\n")
    at = 0
    while at < len(lines) - 1:
        # Between the columns and pages of a text there may be an empty line.
        after = at + 1 if lines[at + 1].strip() else at + 2
        joined = _joined(lines[at], lines[after], compounds) if after < len(lines) else None
        if joined is None:
            at += 1
            continue
        lines[at], rest = joined
        lines[after : after + 1] = [rest] if rest else []
    return keep_hyphens("\n".join(lines))


def _joined(line: str, following: str, compounds: set[str]) -> tuple[str, str] | None:
    """The line with its last word whole, and what is left of the next; None if they stay."""
    head, tail = _HEAD.search(line), _TAIL.match(following)
    if head is None or tail is None:
        return None
    hyphen, rest = _hyphen(head, tail, compounds), following[tail.end() :]
    if hyphen is None:
        return None
    return line[: head.start(2)] + hyphen + tail[1] + tail[2], rest


def _hyphen(head: re.Match[str], tail: re.Match[str], compounds: set[str]) -> str | None:
    """What stands between the two parts of the word; None if they are two words."""
    before, after = head[1].lower().replace("‐", "-"), tail[1].lower()
    if head[2] == SOFT:
        return ""
    if not tail[1][0].islower() or after in _AND:
        return None
    last = head[1].replace("‐", "-").rpartition("-")[2]
    real = (
        "-" in before
        or (tail[2][:1] in ("-", "‐") and tail[2][1:2].isalpha())
        or len(before) == 1
        or any(letter.isupper() for letter in last[1:])
        or before in _FIRST_WORDS
        or f"{before}-{after}" in compounds
    )
    return "-" if real else ""
