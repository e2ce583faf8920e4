"""The prompts of a model: the rules of transcription, and the text that goes with a page."""

from collections.abc import Callable, Mapping

DEFAULT_SYSTEM_PROMPT = """\
You transcribe one page of a document from its image.

Write down:
- All text that can be seen on the page, word for word. Keep spelling, numbers, symbols and \
punctuation exactly as printed; correct nothing, translate nothing, leave nothing out.
- The text in the order a person reads it, as one single column, whatever the layout: finish a \
column before the next one begins.
- Tables as Markdown tables with every row and column, lists as lists with their own markers, \
formulas as LaTeX, headings on their own line.
- For every figure, chart, photo, diagram or stamp, at the place where it stands, two lines:
[Figure: its name or number, or what kind it is]
[Description: what it shows, objectively, with the values and labels that can be read]

Leave out page headers, page footers, page numbers and watermarks.

You may be given text of neighbouring pages. It is context only: use it to understand a figure, \
an abbreviation or a broken word, never to add to, replace or change the text of this page.

Answer with the transcription alone. No introduction, no comment, no code fence around it: the \
first line of your answer is the first line of the page.\
"""


def user_prompt(
    page: int,
    total_pages: int,
    neighbours: Mapping[int, str],
    *,
    max_context_bytes: int,
    instructions: str = "",
) -> str:
    """The text that goes with the image: which page it is, instructions, and neighbours' text."""
    parts = [f"Transcribe page {page} of {total_pages}."]
    if instructions.strip():
        parts.append(f"Instructions of the reader:\n{instructions.strip()}")
    context = neighbour_context(page, neighbours, max_context_bytes)
    if context:
        parts.append("Context from neighbouring pages, only to understand this one:\n\n" + context)
    return "\n\n".join(parts)


def neighbour_context(page: int, neighbours: Mapping[int, str], max_bytes: int) -> str:
    """Neighbours' text in page order within `max_bytes` of UTF-8, headings included.

    Nearer pages are served first. Of a page before, the end is kept; of a page after, the
    beginning: that is what touches this page.
    """
    kept: dict[int, str] = {}
    left = max_bytes
    numbers = [n for n in neighbours if n != page and neighbours[n].strip()]
    for distance in sorted({abs(n - page) for n in numbers}):
        # The page before and the page after share what is left; what one spares the other has.
        pair = sorted((n for n in numbers if abs(n - page) == distance), key=_size(neighbours))
        for position, number in enumerate(pair):
            heading = f"=== Page {number} (context) ===\n"
            room = left // (len(pair) - position) - len(heading) - 2
            if room > 0:
                text = _clip(neighbours[number].strip(), room, keep_end=number < page)
                kept[number] = heading + text
                left -= len(kept[number].encode()) + 2
    return "\n\n".join(kept[number] for number in sorted(kept))


def _size(texts: Mapping[int, str]) -> Callable[[int], tuple[int, int]]:
    return lambda number: (len(texts[number].strip().encode()), number)


def _clip(text: str, max_bytes: int, *, keep_end: bool) -> str:
    raw = text.encode()
    if len(raw) <= max_bytes:
        return text
    # `ignore` drops at most the one character that the cut went through.
    return (raw[-max_bytes:] if keep_end else raw[:max_bytes]).decode(errors="ignore")
