"""Records, summaries and payloads: what is reported adds up, and survives its journey."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from quire.contracts.base import Lean
from quire.contracts.carried import CarriedPage, DocumentRun
from quire.contracts.codes import Code, FailureKind
from quire.contracts.document import DocumentRequest
from quire.contracts.money import NOTHING, Paid
from quire.contracts.names import JOB_ID, LONGEST_DEADLINE_S, route_queue, workflow_id
from quire.contracts.page import (
    AttemptNote,
    Classification,
    PageError,
    PageRecord,
    TextSource,
    Usage,
)
from quire.contracts.results import PageResult, ResultMetadata
from quire.contracts.selection import Assignment, Deferral, Selection
from quire.contracts.steps import AttemptFailure, AttemptReceipt, AttemptRequest, FinalizeRequest
from quire.contracts.stored import StoredAnswer
from quire.domain.cost import Spending
from quire.domain.document.attempts import DEADLINE, OK, expand_attempts
from quire.domain.document.summary import price_page, summarize
from quire.domain.errors import MEANING
from quire.temporal.search_attributes import SEARCH_ATTRIBUTES
from tests.domain.strategies import KINDS, quick

ERROR = PageError(error="It failed.", code=Code.GW_5XX, error_type="retryable")


# --- attempts ------------------------------------------------------------------------------


def test_attempts_are_told_in_full() -> None:
    notes = [AttemptNote(1, "RATE", 5), AttemptNote(0, OK, 7), AttemptNote(0, DEADLINE)]
    attempts = expand_attempts(notes, ["a:m", "b:n"])
    assert [(a.route, a.outcome, a.code, a.milliseconds) for a in attempts] == [
        ("b:n", "RATE", Code.GW_4XX, 5),
        ("a:m", "ok", None, 7),
        ("a:m", "DEADLINE", Code.GW_TIMEOUT, 0),
    ]


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_can_be_told(kind: FailureKind) -> None:
    (attempt,) = expand_attempts([AttemptNote(0, kind.value)], ["a:m"])
    assert attempt.code is MEANING[kind].code


@pytest.mark.parametrize("source", TextSource)
def test_only_models_read_pages(source: TextSource) -> None:
    record = PageRecord(page=1, source=source, attempts=(AttemptNote(2, OK),))
    nobody = source.value.startswith("mupdf")
    assert record.read_by == (None if nobody else 2)
    assert source.degraded == ("fallback" in source.value)


# --- the summary ---------------------------------------------------------------------------


def result(page: int, source: TextSource, cost: float | None = 0.0) -> PageResult:
    return PageResult(
        page=page,
        classification=Classification.SCANNED,
        reason="it is a scan",
        source=source,
        usage=Usage(input_tokens=10, output_tokens=3) if source is TextSource.AI else Usage(),
        cost_usd=cost,
        error=ERROR if source.degraded else None,
    )


def counts(pages: Sequence[PageResult], *, timeout: bool = False) -> ResultMetadata:
    vision = sum(1 for page in pages if page.source is not TextSource.MUPDF)
    request = FinalizeRequest(
        job_id="job",
        source="a.pdf",
        sha256="0" * 64,
        reading="0" * 32,
        user_id="me",
        page_count=len(pages),
        routes=("a:m",),
        records=(),
        vision_pages=vision,
        timeout_occurred=timeout,
        warnings=("one",),
        started_at="2030-01-01T00:00:00+00:00",
        completed_at="2030-01-01T00:00:09+00:00",
    )
    whole = summarize(request, pages, text_length=5, local_path="/x/text.txt", s3_url=None)
    assert (whole.job_id, whole.status, whole.user_id) == ("job", "success", "me")
    assert bool(whole.metadata.pages_failed) == (whole.message != "Completed") or timeout
    return whole.metadata


@quick
@given(st.lists(st.sampled_from(TextSource), max_size=30))
def test_counts_add_up(sources: list[TextSource]) -> None:
    pages = [result(number, source) for number, source in enumerate(sources, start=1)]
    meta = counts(pages, timeout=TextSource.MUPDF_TIMEOUT_FALLBACK in sources)
    assert meta.total_pages == len(sources) == meta.pages_done + meta.pages_failed
    assert meta.total_pages == meta.ai_pages + meta.text_only_pages
    assert meta.ai_pages == meta.ai_pages_succeeded + meta.ocr_pages + meta.pages_failed
    assert meta.pages_failed == meta.mupdf_fallback_count + meta.ocr_fallback_count
    assert meta.ocr_fallback_count == sources.count(TextSource.OCR_FALLBACK)
    assert meta.missing_pages <= meta.mupdf_fallback_count
    assert meta.text_only_pages == sources.count(TextSource.MUPDF)
    assert meta.input_tokens == 10 * sources.count(TextSource.AI)


def test_cost_is_a_sum_or_unknown() -> None:
    assert counts([result(1, TextSource.AI, 0.5), result(2, TextSource.AI, 0.25)]).cost_usd == 0.75
    assert counts([result(1, TextSource.AI, 0.5), result(2, TextSource.AI, None)]).cost_usd is None
    assert counts([result(1, TextSource.MUPDF), result(2, TextSource.OCR)]).cost_usd == 0.0
    fell_back = result(2, TextSource.MUPDF_FALLBACK, 0.25)
    assert counts([result(1, TextSource.AI, 0.5), fell_back]).cost_usd == 0.75, (
        "paid in vain, but paid"
    )


ANSWER = StoredAnswer(
    text="t", provider="a", model="m", milliseconds=1,
    usage=Usage(input_tokens=100, output_tokens=20), cost_usd=0.5,
)  # fmt: skip
UNPRICED = ANSWER.model_copy(update={"cost_usd": None})
WASTED = Paid(10, 2, 250_000)


@pytest.mark.parametrize(
    ("answer", "reused", "wasted", "tokens", "cost"),
    [
        (ANSWER, False, NOTHING, (100, 20), 0.5),
        (ANSWER, False, WASTED, (110, 22), 0.75),
        (ANSWER, True, NOTHING, (0, 0), 0.0),
        (ANSWER, True, WASTED, (10, 2), 0.25),
        (UNPRICED, False, WASTED, (110, 22), None),
        (UNPRICED, True, NOTHING, (0, 0), 0.0),
        (ANSWER, False, Paid(10, 2, None), (110, 22), None),
        (None, False, NOTHING, (0, 0), 0.0),
        (None, False, WASTED, (10, 2), 0.25),
    ],
)
def test_page_costs_what_this_run_paid_for_it(
    answer: StoredAnswer | None,
    reused: bool,
    wasted: Paid,
    tokens: tuple[int, int],
    cost: float | None,
) -> None:
    record = PageRecord(page=1, reused=reused, wasted=wasted)
    usage, dollars = price_page(record, answer)
    assert (usage.input_tokens, usage.output_tokens) == tokens
    assert dollars == cost


def test_what_was_paid_adds_up_or_is_unknown() -> None:
    assert Paid(1, 2, 3).plus(Paid(10, 20, 30)) == Paid(11, 22, 33)
    assert Paid(1, 2, 3).plus(Paid(10, 20, None)) == Paid(11, 22, None)
    spent = Spending()
    spent.add(Paid(1, 2, 3), NOTHING)
    assert (spent.tokens, spent.dollars) == (3, 3e-6)
    spent.add(Paid(1, 0, None))
    assert (spent.tokens, spent.dollars) == (4, None)


def test_bill_of_nothing_takes_no_room_in_history() -> None:
    receipt = AttemptReceipt(milliseconds=1, chars=2, paid=Paid(1, 2, 3))
    assert receipt.model_dump() == {"milliseconds": 1, "chars": 2, "paid": (1, 2, 3)}
    failure = AttemptFailure(kind=FailureKind.RATE, message="no")
    assert failure.model_dump() == {"kind": FailureKind.RATE, "message": "no"}
    assert PageRecord(page=1, attempts=(AttemptNote(0, OK, 5),)).model_dump() == {
        "page": 1,
        "attempts": ((0, OK, 5),),
    }


# --- payloads ------------------------------------------------------------------------------

notes = st.builds(
    AttemptNote,
    route=st.integers(0, 5),
    outcome=st.sampled_from([OK, DEADLINE, *(kind.value for kind in KINDS)]),
    milliseconds=st.integers(0, 10**6),
)
records = st.builds(
    PageRecord,
    page=st.integers(1, 5000),
    source=st.sampled_from(TextSource),
    attempts=st.lists(notes, max_size=4).map(tuple),
    error=st.none() | st.just(ERROR),
    take=st.integers(0, 3),
    answer=st.none() | st.just("answers/00/x.json"),
)
lean: st.SearchStrategy[Lean] = st.one_of(
    st.builds(
        AttemptRequest,
        brief=st.text("0123456789abcdef", min_size=1, max_size=16),
        page=st.integers(1, 5000),
        seconds=st.floats(0.5, 600),
        route=st.integers(0, 5),
        begun_at=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    ),
    st.builds(
        AttemptReceipt, milliseconds=st.integers(0), chars=st.integers(0), stored=st.booleans()
    ),
    st.builds(
        AttemptFailure,
        kind=st.sampled_from(FailureKind),
        message=st.text(st.characters(codec="utf-8"), max_size=20),
        milliseconds=st.integers(0, 5),
        retry_after_s=st.none() | st.floats(0, 9999),
    ),
    records,
    st.builds(
        CarriedPage,
        page=st.integers(1, 5000),
        barred=st.lists(st.integers(0, 5), max_size=3).map(tuple),
        round=st.integers(0, 3),
        not_before=st.floats(0, 1e10),
        attempts=st.lists(notes, max_size=4).map(tuple),
        take=st.integers(0, 3),
        earlier=st.none() | records,
    ),
    st.builds(
        Selection,
        assign=st.lists(
            st.builds(
                Assignment,
                page=st.integers(1, 99),
                route=st.integers(0, 5),
                seconds=st.floats(0.5, 60),
                how=st.sampled_from(["now", "probe", "behind"]),
            ),
            max_size=4,
        ).map(tuple),
        fall_back=st.lists(st.integers(1, 99), max_size=3).map(tuple),
        defer=st.lists(
            st.builds(Deferral, page=st.integers(1, 99), not_before=st.floats(0, 1e10)), max_size=3
        ).map(tuple),
        wake_at=st.none() | st.floats(0, 1e10),
    ),
)


@quick
@given(lean)
def test_lean_payloads_come_back_whole(payload: Lean) -> None:
    assert type(payload).model_validate_json(payload.model_dump_json()) == payload
    assert type(payload).model_validate(payload.model_dump(mode="json")) == payload
    for name, value in payload.model_dump().items():
        assert value != type(payload).model_fields[name].default, "a default in history"


def test_defaults_weigh_nothing() -> None:
    assert PageRecord(page=3).model_dump_json() == '{"page":3}'
    assert Selection().model_dump_json() == "{}"


@pytest.mark.parametrize(
    "fields",
    [
        {"job_id": "../x"},
        {"job_id": ""},
        {"job_id": "a/b"},
        {"job_id": "a\n"},
        {"job_id": "x" * 101},
        {"job_id": "ok", "deadline_s": 0},
        {"job_id": "ok", "deadline_s": LONGEST_DEADLINE_S + 1},
        {"job_id": "ok", "deadline_s": float("inf")},
        {"job_id": "ok", "deadline_s": float("nan")},
        {"job_id": "ok", "pages": ""},
        {"job_id": "ok", "pages": "one"},
        {"job_id": "ok", "pages": "0-3"},
        {"job_id": "ok", "pages": "5-3"},
        {"job_id": "ok", "pages": "1-5,,9"},
        {"job_id": "ok", "tier": "best"},
        {"job_id": "ok", "dealine_s": 9},
    ],
    ids=str,
)
def test_impossible_requests_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DocumentRun(source="/a.pdf", **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"deadline_s": LONGEST_DEADLINE_S},
        {"deadline_s": 0.5},
        {"pages": "1-5, 9"},
        {"pages": "7-"},
        {"pages": None},
    ],
    ids=str,
)
def test_possible_requests_are_taken_as_they_are(fields: dict[str, Any]) -> None:
    request = DocumentRequest(job_id="ok", source="/a.pdf", **fields)
    assert {name: getattr(request, name) for name in fields} == fields
    run = DocumentRun.of(request)
    assert DocumentRun.model_validate_json(run.model_dump_json()).request() == request


def test_names_that_everybody_relies_on() -> None:
    assert JOB_ID.startswith("^")
    assert workflow_id("job") == "document-job"
    assert route_queue("openai", "big") == "quire-ai-openai-big"
    assert {"QuireStatus", "QuireUser", "QuirePages", "QuireFallbackPages", "QuireEngine"} <= set(
        SEARCH_ATTRIBUTES
    )


def test_classes_have_letters_of_their_own() -> None:
    assert len({member.letter for member in Classification}) == len(Classification)
    for member in Classification:
        assert Classification.from_letter(member.letter) is member
