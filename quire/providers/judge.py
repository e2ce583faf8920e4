"""Whether a model's reply is the text of a page. Pure rules, the same for every vendor."""

import re
from itertools import groupby

from quire.domain import errors
from quire.providers.transport import ModelReply

_FENCE = re.compile(
    r"\A```[ \t]*(markdown|md|text|txt|plaintext)?[ \t]*\n(.*?)\n?```\Z", re.S | re.I
)
_SENTENCE_END = re.compile(r"[^\W\d_]{3}[.!?](\s|$)")

# What a sheet of paper can hold separates a loop from a table, a form or a sheet of labels: at
# most some 70 rows, 65 labels, and a line of dots no longer than the page is wide.
_SENTENCE_REPEATS = 40
_PARAGRAPH_REPEATS, _PARAGRAPH_CHARS = 15, 4_000
_WORDS_REPEATS, _WORDS_CHARS = 80, 1_000
_SIGNS_REPEATS, _SIGNS_CHARS = 200, 1_500
_LONGEST_UNIT = 2_000
_TAIL = 20_000


def accept(reply: ModelReply) -> str:
    """The page's text, or `AttemptFailed` that says why it is none."""
    if reply.malformed is not None:
        raise errors.answer_malformed(reply.malformed)
    if reply.refused is not None:
        raise errors.model_declined(reply.refused)
    text = strip_fence(reply.text)
    # A loop usually ends at the cap: report the cause and not its consequence.
    if loops(text):
        raise errors.answer_loops()
    if reply.truncated:
        raise errors.answer_cut_off()
    if not text:
        # A blank page never reaches a model, so an empty reply is no answer.
        raise errors.answer_empty()
    return text


def wants_more_room(reply: ModelReply) -> bool:
    """Whether a larger cap may complete the reply; a loop would only fill it."""
    return reply.capped_by_us and reply.refused is None and not loops(reply.text)


def strip_fence(text: str) -> str:
    """Take off a fence around the whole answer; a fence that belongs to the page stays."""
    text = text.strip()
    match = _FENCE.match(text)
    if match is None:
        return text
    language, inner = match.groups()
    inner_fences = sum(line.lstrip().startswith("```") for line in inner.splitlines())
    # Named fences can hold pairs of others; of two bare ones each may be the page's own.
    if inner_fences % 2 or (inner_fences and language is None):
        return text
    return str(inner).strip("\n")


def loops(text: str) -> bool:
    """Whether the text ends in, or contains, a phrase or line repeated beyond all reason."""
    return _tail_loops(text.rstrip()[-_TAIL:]) or _lines_loop(text)


def _lines_loop(text: str) -> bool:
    lines = (line.strip() for line in text.splitlines())
    runs = ((line, sum(1 for _ in run)) for line, run in groupby(filter(None, lines)))
    return any(_is_degenerate(line + "\n", count) for line, count in runs)


def _tail_loops(text: str) -> bool:
    """A text that ends in n times the same p characters, backwards starts with them."""
    backwards = text[::-1]
    for period, length in enumerate(_matches_with_start(backwards)):
        if period and length >= period * (_PARAGRAPH_REPEATS - 1):
            unit = text[-period:]
            if _is_degenerate(unit, (period + length) // period):
                return True
    return False


def _is_degenerate(unit: str, repeats: int) -> bool:
    chars = len(unit) * repeats
    if not any(char.isalnum() for char in unit):
        return chars >= _SIGNS_CHARS and ("\n" not in unit or repeats >= _SIGNS_REPEATS)
    if not any(char.isalpha() for char in unit):
        return chars >= _SIGNS_CHARS and repeats >= _SIGNS_REPEATS
    # Where a unit begins is arbitrary: look for the sentence across its seam.
    if len(unit.split()) >= 4 and _SENTENCE_END.search(unit + unit) and "|" not in unit:
        long = repeats >= _PARAGRAPH_REPEATS and chars >= _PARAGRAPH_CHARS
        return long or repeats >= _SENTENCE_REPEATS
    return repeats >= _WORDS_REPEATS and chars >= _WORDS_CHARS


def _matches_with_start(text: str) -> list[int]:
    """The Z function: for each place, how many characters repeat the text's start there."""
    size = len(text)
    found = [0] * min(size, _LONGEST_UNIT)
    left = right = 0
    for place in range(1, len(found)):
        length = 0
        if place < right:
            length = min(right - place, found[place - left])
        while place + length < size and text[length] == text[place + length]:
            length += 1
        found[place] = length
        if place + length > right:
            left, right = place, place + length
    return found
