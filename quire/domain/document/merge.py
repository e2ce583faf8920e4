"""The document's text: pages in order, each under its heading."""

from collections.abc import Iterable, Iterator


def merge_pages(pages: Iterable[tuple[int, str]], *, first: bool = True) -> Iterator[str]:
    """Pieces of `text.txt` in order, so that a long document need not fit into memory."""
    for number, text in pages:
        body = text.strip("\n").rstrip()
        yield ("" if first else "\n") + f"=== Page {number} ===\n" + (f"{body}\n" if body else "")
        first = False
