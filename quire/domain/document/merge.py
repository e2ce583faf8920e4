"""The document's text: pages in order, each under its heading."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise


def page_body(text: str) -> str:
    """A page's text as the document holds it, without blank lines around it."""
    return text.strip("\n").rstrip()


def merge_pages(pages: Iterable[tuple[int, str]], *, first: bool = True) -> Iterator[str]:
    """Pieces of `text.txt` in order, so that a long document need not fit into memory."""
    for number, text in pages:
        body = page_body(text)
        yield ("" if first else "\n") + _heading(number) + (f"{body}\n" if body else "")
        first = False


def split_pages(text: str, pages: Sequence[tuple[int, int]]) -> list[str]:
    """The pages' own texts out of `text.txt`, by their numbers and lengths.

    The lengths tell a heading from the same words within a page: they are of the texts before
    blanks were removed, so the last heading that fits is the real one.
    """
    found: list[str] = []
    start = len(_heading(pages[0][0])) if pages else 0
    for (_, length), (following, _) in pairwise(pages):
        heading = "\n" + _heading(following)
        # A page without text has its heading's line end alone before the next heading.
        furthest = start + length + 1 + len(heading)
        at = text.rfind(heading, start, furthest)
        if at < 0:
            raise ValueError(f"the heading of page {following} is not where it should be")
        found.append(page_body(text[start:at]))
        start = at + len(heading)
    if pages:
        found.append(page_body(text[start:]))
    return found


def _heading(number: int) -> str:
    return f"=== Page {number} ===\n"
