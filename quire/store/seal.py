"""Binds a stored JSON object to its name by a checksum inside it.

The checksum is one more field at the beginning of the object, or of the first object of a list:
workers of a version from before ignore it, and people can still read the object. It covers the name
too, so that one object put in place of another is found out.
"""

import hashlib
import re

FIELD = "quire_checksum"
_BEGINS = re.compile(rb'(\[?\{)(\s*)"')
_SEALED = re.compile(rb'\[?\{(\s*"quire_checksum": ?"([0-9a-f]{64})",)')
# In a text, a quote would stand behind a backslash: this is a field, wherever it is.
_TRACE = b'quire_checksum"'


class Damaged(Exception):
    """An object is not what was written under its name; the message says how that shows."""


def seal(name: str, body: bytes) -> bytes:
    """The JSON object, or list of objects, with its checksum."""
    begins = _BEGINS.match(body)
    if begins is None:
        return body
    indent = begins[2]
    field = b'%b"%b":%b"%b",' % (
        indent, FIELD.encode(), b" " if indent else b"", _digest(name, body),
    )  # fmt: skip
    return begins[1] + field + body[begins.end(1) :]


def unseal(name: str, data: bytes) -> bytes | None:
    """The object as it was sealed; None where it never was, as those of versions from before.

    Raises `Damaged` when it is another than the one that was sealed under this name.
    """
    sealed = _SEALED.match(data)
    if sealed is None:
        if _TRACE in data:
            raise Damaged("its checksum is not where it was written")
        return None
    body = data[: sealed.start(1)] + data[sealed.end(1) :]
    if _digest(name, body) != sealed[2]:
        raise Damaged("it differs from its checksum")
    return body


def _digest(name: str, body: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(body)
    return digest.hexdigest().encode()
