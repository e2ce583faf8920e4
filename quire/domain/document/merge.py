"""The document's text: pages in order, each under its heading."""

from collections.abc import Iterable, Iterator, Sequence


def page_body(text: str) -> str:
    """A page's text as the document holds it, without blank lines around it."""
    return text.strip("\n").rstrip()


def merge_pages(pages: Iterable[tuple[int, str]], *, first: bool = True) -> Iterator[str]:
    """Pieces of `text.txt` in order, so that a long document need not fit into memory."""
    for number, text in pages:
        body = page_body(text)
        yield ("" if first else "\n") + _heading(number) + (f"{body}\n" if body else "")
        first = False


def split_pages(merged: str, pages: Sequence[tuple[int, int]]) -> dict[int, str]:
    """The text of each page in `text.txt`, given its pages in order, each with its length.

    A page may quote a heading: merging only shortens a page, by the blanks at its ends, so of the
    places where the next page might begin, the last one that the length allows is taken.
    """
    found, at = dict[int, str](), 0
    for place, (number, length) in enumerate(pages):
        at += len(_heading(number))
        end = len(merged)
        if place + 1 < len(pages):
            next_heading = "\n" + _heading(pages[place + 1][0])
            # Up to its length, its line end, and the heading after it.
            end = merged.rfind(next_heading, at, at + length + 1 + len(next_heading))
            if end < 0:
                end = merged.find(next_heading, at)
            if end < 0:
                raise ValueError(f"page {pages[place + 1][0]} is missing")
        found[number] = merged[at:end].removesuffix("\n")
        at = end + 1
    return found


def _heading(number: int) -> str:
    return f"=== Page {number} ===\n"
