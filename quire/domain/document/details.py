"""Parts of a document's live details that workflow, application and tool show: bar and request."""

from collections.abc import Iterable, Sequence

from quire.contracts.document import DocumentRequest

BAR = 30
GAP = "\u2003"
# What a client that starts a document cannot know; the plan knows it.
UNDECIDED = "as the workers have it"


def bar(done: int, total: int, width: int = BAR) -> str:
    """A progress bar in text."""
    full = width * done // total if total else 0
    return "█" * full + "░" * (width - full)


def render_request(request: DocumentRequest, engine: str | None) -> str:
    """What was asked for, shown from the start on; without an engine, the workers choose it."""
    deadline = f"{request.deadline_s:g} s" if request.deadline_s else UNDECIDED
    return request_table(request, engine or UNDECIDED, deadline)


def request_table(request: DocumentRequest, engine: str, deadline: str) -> str:
    """What was asked for, with the engine and the deadline as far as they are known."""
    rows = {
        "file": request.source_name or request.source,
        "pages": request.pages or "all",
        "engine": "none, MuPDF's text only"
        if request.text_only
        else f"{engine}, tier {request.tier}",
        "owner": request.user_id or "-",
        "deadline": deadline,
        "job": request.job_id,
    }
    return table(("", ""), rows.items())


def table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; the Web UI sets cells without a gap, so each brings one along."""
    lines = [head, *rows]
    drawn = ["|" + "".join(f" {plain(str(cell))}{GAP}|" for cell in line) for line in lines]
    return "\n".join([drawn[0], "|" + "---|" * len(head), *drawn[1:]])


def plain(text: str, length: int = 200) -> str:
    """A vendor's words, so that they neither break the table nor become markup."""
    words = " ".join(text.replace("|", "/").replace("<", "(").replace("`", "'").split())
    return cut(words, length)


def cut(text: str, length: int) -> str:
    """The text, or as much of it as fits."""
    return text if len(text) <= length else text[: length - 1] + "…"
