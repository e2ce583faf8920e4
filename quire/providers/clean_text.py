"""Text from outside as text that can be stored, priced, printed and sent on."""

import re

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85]")
# Controls of all kinds but the tab and the end of a line.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
# Code points that will never be characters: the last two of every plane, and 32 in the first.
_LAST_TWO = "".join(chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_NO_CHARACTERS = re.compile(f"[\ufdd0-\ufdef{_LAST_TWO}]")
_REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """The text without controls, its lines ended by newlines. Halves of characters are joined; a
    lone one, and what is no character, becomes U+FFFD, as nobody knows what stood there."""
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
    return _NO_CHARACTERS.sub(_REPLACEMENT, text)
