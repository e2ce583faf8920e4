"""Page lists as people write them: `1-5,9`."""

from collections.abc import Iterable

from quire.contracts.page_ranges import parse_pages


def choose_pages(spec: str | None, page_count: int) -> tuple[int, ...]:
    """The pages of the document that `spec` names, each once, in page order."""
    if spec is None:
        return tuple(range(1, page_count + 1))
    chosen: list[int] = []
    # In rising order each page is looked at once, however often a list of foreign make names it.
    for first, last in sorted((a, page_count if b is None else b) for a, b in parse_pages(spec)):
        begin = max(first, chosen[-1] + 1) if chosen else first
        chosen.extend(range(begin, min(last, page_count) + 1))
    return tuple(chosen)


def format_pages(pages: Iterable[int]) -> str:
    """The shortest way to write them: 1-3,7."""
    runs: list[list[int]] = []
    for page in sorted(pages):
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
