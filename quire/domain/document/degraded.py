"""What a document says of its degraded pages: how many, why, which are empty, what mends them."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from quire.contracts.codes import FailureKind
from quire.contracts.page import TextSource
from quire.contracts.results import PageResult
from quire.domain.counts import counted
from quire.domain.document.details import cut
from quire.domain.errors import MEANING
from quire.domain.page_ranges import format_pages

# As much as one line can bear: characters of an error and of page numbers, kinds of errors.
ERROR_CHARS = 120
PAGES_CHARS = 80
KINDS_NAMED = 3
_KINDS = frozenset(FailureKind)


def degraded_words(pages: Iterable[PageResult], job_id: str, user_id: str) -> str:
    """All that follows their number in a result's message; nothing where no page is degraded."""
    degraded = [page for page in pages if page.source.degraded]
    if not degraded:
        return ""
    by_ocr = sum(1 for page in degraded if page.source is TextSource.OCR_FALLBACK)
    texts = {"with MuPDF's text": len(degraded) - by_ocr, "by local OCR": by_ocr}
    found = ", ".join(f"{number:,} {how}" for how, number in texts.items() if number)
    again = f"`{_retry_command(job_id, user_id)}` reads them again."
    parts = [f"({found}): {_why(degraded)}.", *_empty(degraded), *_remedies(degraded), again]
    return " ".join(parts)


def _retry_command(job_id: str, user_id: str) -> str:
    """What a person types to have the degraded pages of a job read again."""
    owner = f" --user {shlex.quote(user_id)}" if user_id else ""
    return f"quire retry {job_id}{owner}"


def _why(degraded: Sequence[PageResult]) -> str:
    """Each code with the words of its first page."""
    words: dict[str, str] = {}
    for page in degraded:
        if page.error is not None:
            words.setdefault(page.error.code.value, cut(page.error.error, ERROR_CHARS))
    numbers = Counter(page.error.code.value for page in degraded if page.error is not None)
    named = [
        f"{code} on {counted(number, 'page')} ({words[code].rstrip('.')})"
        for code, number in numbers.most_common(KINDS_NAMED)
    ]
    return ", ".join(named) or "no model has read them"


def _empty(degraded: Iterable[PageResult]) -> list[str]:
    """The pages without any text: a scan has no text layer to fall back on."""
    numbers = [page.page for page in degraded if not page.chars]
    if not numbers:
        return []
    named = cut(format_pages(numbers), PAGES_CHARS)
    return [f"Page {named} is empty." if len(numbers) == 1 else f"Pages {named} are empty."]


def _remedies(degraded: Iterable[PageResult]) -> list[str]:
    """What must be mended first, where reading again alone would fail in the same way."""
    found: dict[str, None] = {}
    for page in degraded:
        if page.error is None or page.error.error_type == "retryable":
            continue
        kinds = [FailureKind(a.outcome) for a in page.attempts if a.outcome in _KINDS]
        found[MEANING[kinds[-1]].remedy if kinds else "`quire doctor` says what is missing."] = None
    return list(found)[:KINDS_NAMED]
