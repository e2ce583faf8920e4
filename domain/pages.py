"""Page lists as people write them: `1-5,9`."""

import re
from collections.abc import Iterable

from domain.errors import Code, DocumentRefused

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


def choose_pages(spec: str | None, page_count: int) -> tuple[int, ...]:
    """The pages of the document that `spec` names, each once, in page order."""
    if spec is None:
        return tuple(range(1, page_count + 1))
    chosen: set[int] = set()
    for first, last in parse_pages(spec):
        end = page_count if last is None else min(last, page_count)
        chosen.update(range(first, end + 1))
    return tuple(sorted(chosen))


def no_such_page(spec: str, page_count: int) -> DocumentRefused:
    """None of the pages that were asked for exists."""
    return DocumentRefused(
        Code.UNKNOWN,
        "PAGES",
        f"The document has {page_count} pages; none of '{spec}' exists.",
        "Name pages that exist with --pages.",
    )


def format_pages(pages: Iterable[int]) -> str:
    """The shortest way to write them: 1-3,7."""
    runs: list[list[int]] = []
    for page in sorted(pages):
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
