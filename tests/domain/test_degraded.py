"""What a result says of its degraded pages."""

from quire.contracts.codes import Code, FailureKind
from quire.contracts.page import Attempt, Classification, PageError, TextSource
from quire.contracts.results import PageResult
from quire.domain import errors
from quire.domain.document.degraded import degraded_words
from quire.domain.errors import MEANING

BUSY = PageError(error="a:m: 503, busy.", code=Code.GW_5XX, error_type="retryable")
REFUSED = PageError(error="a:m: 401", code=Code.GW_4XX, error_type="terminal")


def page(
    number: int,
    source: TextSource = TextSource.MUPDF_FALLBACK,
    error: PageError | None = BUSY,
    *outcomes: str,
    chars: int = 9,
) -> PageResult:
    return PageResult(
        page=number,
        classification=Classification.SCANNED,
        reason="it is a scan",
        source=source,
        error=error if source.degraded else None,
        attempts=tuple(Attempt(route="a:m", outcome=outcome) for outcome in outcomes),
        chars=chars,
    )


def words(*pages: PageResult, user: str = "") -> str:
    return degraded_words(pages, "job-7", user)


def test_nothing_is_said_of_a_whole_document() -> None:
    assert words(page(1, TextSource.AI), page(2, TextSource.MUPDF, chars=0)) == ""


def test_how_many_and_why_and_the_command() -> None:
    by_ocr = page(2, TextSource.OCR_FALLBACK)
    assert words(page(1), by_ocr, page(3), page(4, TextSource.AI)) == (
        "(2 with MuPDF's text, 1 by local OCR): GW_5XX on 3 pages (a:m: 503, busy). "
        "`quire retry job-7` reads them again."
    )


def test_the_command_is_the_owners() -> None:
    assert "`quire retry job-7 --user ana`" in words(page(1), user="ana")
    assert "`quire retry job-7 --user 'a b; c'`" in words(page(1), user="a b; c")


def test_empty_pages_are_named() -> None:
    late = [page(n, error=errors.page_too_late(), chars=0) for n in range(131, 151)]
    assert "Pages 131-150 are empty." in words(*late, page(1))
    assert "Page 131 is empty." in words(late[0], page(1))
    assert "empty" not in words(page(1), page(2, TextSource.AI, chars=0)), "a model found nothing"


def test_what_a_retry_alone_would_not_mend_comes_first() -> None:
    key, model = MEANING[FailureKind.AUTH].remedy, MEANING[FailureKind.MODEL].remedy
    found = words(
        page(1, TextSource.MUPDF_FALLBACK, REFUSED, "SERVER", "AUTH"),
        page(2, TextSource.MUPDF_FALLBACK, REFUSED, "AUTH"),
        page(3, TextSource.MUPDF_FALLBACK, REFUSED, "MODEL"),
        page(4, TextSource.MUPDF_FALLBACK, BUSY, "SERVER"),
    )
    assert found.count(key) == found.count(model) == 1
    assert found.index(key) < found.index("`quire retry job-7`")
    assert MEANING[FailureKind.SERVER].remedy not in found
    alone = words(page(1, TextSource.MUPDF_FALLBACK, errors.no_model_configured()))
    assert "`quire doctor`" in alone


def test_long_words_are_cut() -> None:
    wordy = BUSY.model_copy(update={"error": "sorry " * 100})
    scattered = [page(n, error=wordy, chars=0) for n in range(1, 999, 2)]
    assert len(words(*scattered)) < 500
