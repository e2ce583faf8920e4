"""The order of page images: as people sort file names."""

import re

_DIGITS = re.compile(r"(\d+)")


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Sorts as people do: page_2 before page_10, capitals beside small letters."""
    parts = _DIGITS.split(name.casefold())
    return (
        tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part),
        name,
    )
