"""Page lists as people write them: `1-5,9`."""

from collections.abc import Iterable

from quire.contracts.page_ranges import parse_pages


def choose_pages(spec: str | None, page_count: int) -> tuple[int, ...]:
    """The pages of the document that `spec` names, each once, in page order."""
    if spec is None:
        return tuple(range(1, page_count + 1))
    chosen: set[int] = set()
    for first, last in parse_pages(spec):
        end = page_count if last is None else min(last, page_count)
        chosen.update(range(first, end + 1))
    return tuple(sorted(chosen))


def format_pages(pages: Iterable[int]) -> str:
    """The shortest way to write them: 1-3,7."""
    runs: list[list[int]] = []
    for page in sorted(pages):
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
