"""Page lists as people write them: `1-5,9`. Requests are checked with it before they are sent."""

import re

_PART = re.compile(r"^(\d+)(?:-(\d+)?)?$")


def parse_pages(spec: str) -> tuple[tuple[int, int | None], ...]:
    """Ranges in the order given; an open end (`7-`) is None. ValueError says what is wrong."""
    ranges: list[tuple[int, int | None]] = []
    for part in spec.split(","):
        match = _PART.match(part.strip())
        if match is None:
            raise ValueError(f"'{part.strip()}' is not a page or a range such as 1-5")
        first = int(match[1])
        last = first if "-" not in part else int(match[2]) if match[2] else None
        if first < 1 or (last is not None and last < first):
            raise ValueError(f"'{part.strip()}' is not a rising range of pages from 1")
        ranges.append((first, last))
    return tuple(ranges)
