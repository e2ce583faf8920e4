"""The measurements as a page of the docs."""

from collections.abc import Sequence
from statistics import fmean

from bench.text.pages import TextPage
from bench.text.readers import Texts
from bench.text.score import Score, score
from bench.text.speed import Speed

_INTRO = """\
# How true the text is

Made by `make bench-text`: pages with their true text, read by Quire without any key and by other
tools. Character error is the share of letters to insert, delete or replace; word recall the share
of true words found anywhere. Checks are sentences that must be there, or must not (read across a
gutter), pairs in their order, and cells of a table on the line of their row. Blanks and words torn
apart by a line's end count for no tool. Small is good for errors, large for the rest.

tesseract is given pages drawn at 300 dpi, also where their image is finer, and the language of
each page. 
"""

_SPEED = """\
## Speed

The scans among these pages as one document, the tools one after the other, round by round; each
may use all cores (tesseract: one page a core, one thread each, its drawing included). Quire's time
has the start of its own Temporal server and of its engine in it, some seconds that do not grow with
the pages.
"""


def markdown(
    pages: Sequence[TextPage],
    read: Sequence[Texts],
    speeds: Sequence[Speed],
    left_out: Sequence[str],
    facts: dict[str, str],
) -> str:
    """The whole report."""
    scores = {texts.name: _scores(pages, texts) for texts in read}
    groups = list(dict.fromkeys(page.group for page in pages))
    lines = [_INTRO, "## By kind of page: character error (word recall)\n"]
    lines += _head(["kind", "pages", *scores])
    for group in groups:
        chosen = [n for n, page in enumerate(pages) if page.group == group]
        cells = [_mean([of[n] for n in chosen]) for of in scores.values()]
        lines.append(_row([group, str(len(chosen)), *cells]))
    lines += ["", "## Checks that hold\n", *_head(["kind", *scores])]
    for kind in ("present", "absent", "order", "cell"):
        lines.append(_row([kind, *(_held(pages, texts, kind) for texts in read)]))
    lines += ["", "## Page by page: character error\n", *_head(["page", *scores])]
    for n, page in enumerate(pages):
        lines.append(_row([page.name, *(f"{of[n].character_error:.3f}" for of in scores.values())]))
    lines += ["", *_speeds(speeds)]
    lines += ["", *(f"- Left out: {reason}" for reason in left_out)]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    return "\n".join(lines) + "\n"


def _speeds(speeds: Sequence[Speed]) -> list[str]:
    names = [f"{speed.name}, pages a second" for speed in speeds]
    rounds = zip(*(speed.rounds for speed in speeds), strict=True)
    rows = [_row([str(n), *(f"{a:.2f}" for a in each)]) for n, each in enumerate(rounds, 1)]
    return [_SPEED, *_head(["round", *names]), *rows]


def _scores(pages: Sequence[TextPage], texts: Texts) -> list[Score]:
    return [
        score(text, page.truth, page.checks) for page, text in zip(pages, texts.pages, strict=True)
    ]


def _mean(scores: Sequence[Score]) -> str:
    error = fmean(one.character_error for one in scores)
    return f"{error:.3f} ({fmean(one.word_recall for one in scores):.0%})"


def _held(pages: Sequence[TextPage], texts: Texts, kind: str) -> str:
    held = [
        check.holds(text)
        for page, text in zip(pages, texts.pages, strict=True)
        for check in page.checks
        if check.kind == kind
    ]
    return f"{sum(held)} of {len(held)}"


def _head(cells: Sequence[str]) -> list[str]:
    return [_row(cells), "|" + "---|" * len(cells)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
