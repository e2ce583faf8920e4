"""Reading pages of a finished document again: which, and what the new run takes over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.codes import Code
from quire.contracts.money import NOTHING
from quire.contracts.page import (
    Attempt,
    AttemptNote,
    Classification,
    PageError,
    PageRecord,
    TextSource,
)
from quire.contracts.results import DocumentReport, PageResult, ResultMetadata
from quire.contracts.steps import DocumentReceipt
from quire.domain import errors
from quire.domain.document.attempts import OK, expand_attempts
from quire.domain.document.retry import (
    pages_to_retry,
    sources_of,
    take_over,
)
from quire.domain.errors import JobError
from tests.domain.strategies import quick
from workflows.document.previous import renumbered

ERROR = PageError(error="It failed.", code=Code.GW_5XX, error_type="retryable")
RECEIPT = DocumentReceipt(sha256="0" * 64, bytes=9, page_count=5)


def page(number: int, source: TextSource, *attempts: Attempt, take: int = 0) -> PageResult:
    read = source.was_read
    return PageResult(
        page=number,
        classification=Classification.SCANNED,
        reason="it is a scan",
        source=source,
        attempts=attempts,
        error=ERROR if source.degraded else None,
        answer=f"answers/{number}.json" if read else None,
        take=take,
    )


def report(*pages: PageResult, version: int = 1) -> DocumentReport:
    return DocumentReport(
        job_id="job",
        message="Completed",
        source="a.pdf",
        sha256="0" * 64,
        page_count=5,
        started_at="2030-01-01T00:00:00+00:00",
        completed_at="2030-01-01T00:00:09+00:00",
        version=version,
        metadata=ResultMetadata(
            total_pages=len(pages),
            ai_pages=0,
            text_only_pages=len(pages),
            pages_done=len(pages),
            pages_failed=0,
            ai_pages_succeeded=0,
            ocr_pages=0,
            mupdf_fallback_count=0,
            ocr_fallback_count=0,
            timeout_occurred=False,
            missing_pages=0,
            result_text_len=0,
        ),
        pages=pages,
    )


READ = Attempt(route="b:m", outcome=OK, milliseconds=7)
FAILED = Attempt(route="a:m", outcome="SERVER", code=Code.GW_5XX, milliseconds=5)
WHOLE = report(
    page(1, TextSource.MUPDF),
    page(2, TextSource.AI, FAILED, READ, take=2),
    page(3, TextSource.MUPDF_FALLBACK, FAILED),
    page(5, TextSource.MUPDF_TIMEOUT_FALLBACK),
    version=4,
)

# --- which pages ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "pages"),
    [
        (None, (3, 5)),
        ("1", (1,)),
        ("2,1,2", (1, 2)),
        ("4", ()),
        ("9-", ()),
        ("3-", (3, 5)),
        ("1-99", (1, 2, 3, 5)),
    ],
)
def test_named_pages_that_exist_or_all_degraded(spec: str | None, pages: tuple[int, ...]) -> None:
    assert pages_to_retry(spec, {page.page: page.source for page in WHOLE.pages}) == pages


def test_nothing_is_there_to_retry() -> None:
    assert pages_to_retry(None, {}) == ()
    assert pages_to_retry("1-", {}) == ()
    assert pages_to_retry(None, {1: TextSource.AI, 2: TextSource.OCR, 3: TextSource.MUPDF}) == ()


def test_spec_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not a page"):
        pages_to_retry("one", {1: TextSource.AI})


@quick
@given(st.dictionaries(st.integers(1, 30), st.sampled_from(TextSource), max_size=20))
def test_pages_come_in_order_and_exist(sources: dict[int, TextSource]) -> None:
    assert pages_to_retry("1-", sources) == tuple(sorted(sources))
    degraded = pages_to_retry(None, sources)
    assert degraded == tuple(sorted(n for n in sources if "fallback" in sources[n].value))


def of_before(report: DocumentReport) -> DocumentReport:
    """The same as a version from before there was `ocr_fallback` wrote it."""
    return DocumentReport.model_validate(
        report.model_dump(exclude={"metadata": {"ocr_fallback_count"}})
    )


BY_OCR = Attempt(route="local:rapidocr", outcome=OK, milliseconds=9)


def test_local_ocr_by_choice_is_not_retried_and_in_a_vendors_place_it_is() -> None:
    chosen = report(page(1, TextSource.OCR, BY_OCR), page(2, TextSource.OCR, BY_OCR))
    assert pages_to_retry(None, sources_of(chosen)) == ()
    assert pages_to_retry(None, sources_of(of_before(chosen))) == (), "no vendor was asked"
    beside = report(
        page(1, TextSource.OCR, BY_OCR),
        page(2, TextSource.OCR, FAILED, BY_OCR),
        page(3, TextSource.AI, READ),
    )
    assert pages_to_retry(None, sources_of(beside)) == (), "an ordinary route of the chain"
    assert pages_to_retry(None, sources_of(of_before(beside))) == (1, 2)
    (kept,) = (one for one in take_over(of_before(beside), "2-3", RECEIPT).records)
    assert kept.source is TextSource.OCR_FALLBACK
    assert kept.error is not None


# --- what is taken over --------------------------------------------------------------------


@pytest.mark.parametrize("spec", [None, "2", "1,3", "1-5"])
def test_every_page_is_taken_over_or_read_again(spec: str | None) -> None:
    previous = take_over(WHOLE, spec, RECEIPT)
    wanted = pages_to_retry(spec, {page.page: page.source for page in WHOLE.pages})
    assert tuple(record.page for record in previous.again) == wanted
    everything = sorted((*previous.records, *previous.again), key=lambda record: record.page)
    assert [record.page for record in everything] == [1, 2, 3, 5]
    assert (previous.source, previous.version) == (RECEIPT, 4)
    for record, page_result in zip(everything, WHOLE.pages, strict=True):
        assert (record.source, record.error) == (page_result.source, page_result.error)
        assert (record.take, record.answer) == (page_result.take, page_result.answer)
        assert expand_attempts(record.attempts, previous.routes) == page_result.attempts


def test_routes_are_named_once() -> None:
    assert take_over(WHOLE, "1", RECEIPT).routes == ("a:m", "b:m")


def test_new_run_pays_for_nothing_that_was_bought_before() -> None:
    taken = take_over(WHOLE, "1", RECEIPT)
    bought = {page.page for page in WHOLE.pages if page.answer is not None}
    records = (*taken.records, *taken.again)
    assert {record.page for record in records if record.reused} == bought
    assert all(record.wasted == NOTHING for record in records)


def test_retry_of_nothing_is_an_error_that_says_so() -> None:
    for whole, spec in ((WHOLE, "4"), (report(page(1, TextSource.AI, READ)), None)):
        with pytest.raises(JobError) as caught:
            take_over(whole, spec, RECEIPT)
        assert caught.value.info == errors.nothing_to_retry("job").info
        assert "'job'" in caught.value.info.message


def test_result_of_an_older_quire_has_no_takes() -> None:
    old = page(1, TextSource.AI, READ).model_dump(mode="json")
    del old["take"]
    assert PageResult.model_validate(old).take == 0


def test_routes_of_the_past_stand_behind_the_chain() -> None:
    notes = (AttemptNote(0, "RATE", 3), AttemptNote(1, OK, 4))
    record = PageRecord(page=2, attempts=notes, take=1, answer="answers/x.json")
    (moved,) = renumbered([record], 3)
    assert [(note.route, note.outcome, note.milliseconds) for note in moved.attempts] == [
        (3, "RATE", 3),
        (4, OK, 4),
    ]
    assert moved.read_by == 4
    assert moved.model_copy(update={"attempts": notes}) == record
    assert renumbered([record], 0) == (record,)
    assert renumbered([], 3) == ()
    chain, past = ("x:1", "x:2", "x:3"), ("a:m", "b:m")
    assert expand_attempts(moved.attempts, chain + past) == expand_attempts(notes, past)


def test_refusals_have_codes_of_their_own() -> None:
    refusals = (errors.not_owner, errors.between_steps, errors.nothing_to_retry)
    infos = [refusal("job").info for refusal in refusals]
    assert [info.code for info in infos] == [Code.FORBIDDEN, Code.NOT_READY, Code.NOT_READY]
    assert len({info.reason for info in infos}) == 3
    assert [info.error_type for info in infos] == ["terminal", "retryable", "terminal"]
