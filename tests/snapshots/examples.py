"""Instances as they are written: bare, with all at its default, and full, with nothing there."""

from typing import Any

from pydantic import BaseModel

from quire.contracts.carried import Carried, CarriedDispatch, CarriedPage, DocumentRun
from quire.contracts.codes import Code, ErrorInfo, FailureKind
from quire.contracts.document import DocumentRequest, ReplacedRun, RetryRequest
from quire.contracts.money import Paid
from quire.contracts.page import (
    Attempt,
    AttemptNote,
    Classification,
    PageError,
    PageRecord,
    TextSource,
    Usage,
)
from quire.contracts.results import DocumentReport, PageResult, ResultMetadata
from quire.contracts.routing import Breaker, BreakerState, DispatchPolicy
from quire.contracts.selection import Assignment, Deferral, PageView, RouteView, Selection, Snapshot
from quire.contracts.status import DocumentStatus, ProgressDetail
from quire.contracts.steps import (
    AttemptFailure,
    AttemptReceipt,
    AttemptRequest,
    AttemptRest,
    DocumentReceipt,
    FinalizeRequest,
)
from quire.contracts.stored import LayerFacts, PageSurvey, StoredAnswer, StoredResult
from tests.snapshots.keys import BRIEF, LOCAL, PLAN, ROUTE, SHA

PAID = Paid(input_tokens=1200, output_tokens=340, microdollars=4210)
UNPRICED = Paid(input_tokens=1200, output_tokens=340, microdollars=None)
NOTES = (
    AttemptNote(route=0, outcome="TIMEOUT", milliseconds=60000),
    AttemptNote(route=1, outcome="ok"),
)
ERROR = PageError(error="The vendor failed.", code=Code.GW_5XX, error_type="retryable")
OPEN = Breaker(
    state=BreakerState.OPEN, retry_at=1030.5, failures=2, changes=3, recent="ox", reason="RATE"
)
RECORD = PageRecord(
    page=7,
    source=TextSource.MUPDF_FALLBACK,
    attempts=NOTES,
    error=ERROR,
    take=2,
    answer="answers/ab/key.json",
    reused=True,
    wasted=UNPRICED,
    confidence=0.93,
    kept=1,
)
PAGE = CarriedPage(
    page=7,
    barred=(0, 1),
    barred_for_good=(1,),
    round=1,
    not_before=1012.5,
    attempts=NOTES,
    error=ERROR,
    take=1,
    past=2,
    earlier=PageRecord(page=7),
    wasted=PAID,
    paid_before=UNPRICED,
    last_attempt=1009.25,
    strikes=(0, 1),
    back_since=1009.25,
    begun=True,
    second_opinion=True,
)
DISPATCH = CarriedDispatch(
    pages=(PAGE,),
    breakers={"openai": OPEN},
    answered=(0,),
    latencies=((850, 900), ()),
    hedged=1,
    workers=(("a1b2", "c3d4"),),
    ended=12,
)
RECEIPT = DocumentReceipt(sha256=SHA, bytes=123456, page_count=40, kind="images")
BARE_CARRIED = Carried(
    plan=PLAN,
    source=DocumentReceipt(sha256=SHA, bytes=123456, page_count=40),
    brief="0123456789abcdef",
    classes="THSB",
    started=1000.0,
    deadline=1180.0,
)
CARRIED = Carried(
    plan=PLAN,
    source=RECEIPT,
    brief="0123456789abcdef",
    classes="THSB",
    started=1000.0,
    deadline=1180.0,
    records=(RECORD, PageRecord(page=8)),
    past_routes=("anthropic:claude",),
    again=(RECORD,),
    also_vision=(1,),
    version=2,
    changed=(7,),
    spent=(1200, 340, 4210, 1),
    dispatch=DISPATCH,
    last_errors=((7, "openai:gpt-6.1-sol", ERROR),),
    opened={"openai": 1001.5},
)
ASKED: dict[str, Any] = {
    "job_id": "job-7",
    "source": "s3://bucket/a.pdf",
    "source_name": "a.pdf",
    "user_id": "ada",
    "engine": "openai",
    "tier": "fast",
    "instructions": "Tables as they are.",
    "text_only": True,
    "deadline_s": 90.0,
    "pages": "1-5,9",
    "force": True,
    "sealed_password": "q1.new.token",
    "retry": RetryRequest(user_id="ada", pages="3"),
    "mode": "hold",
    "one_model": True,
    "replaced": (ReplacedRun(salt="run-1"), ReplacedRun(bought_by=("run-2",))),
}
METADATA = ResultMetadata(
    total_pages=1,
    ai_pages=1,
    text_only_pages=0,
    pages_done=0,
    pages_failed=1,
    ai_pages_succeeded=0,
    ocr_pages=0,
    mupdf_fallback_count=1,
    timeout_occurred=False,
    missing_pages=0,
    result_text_len=12,
)
RESULT = PageResult(
    page=1,
    classification=Classification.SCANNED,
    reason="no text",
    source=TextSource.MUPDF_FALLBACK,
    attempts=(Attempt(route="openai:gpt", outcome="SERVER", code=Code.GW_5XX, milliseconds=9),),
    usage=Usage(input_tokens=5, output_tokens=6),
    error=ERROR,
)
REPORT = DocumentReport(
    job_id="job-7",
    message="Done.",
    source="a.pdf",
    sha256=SHA,
    page_count=1,
    started_at="2026-01-02T03:04:05+00:00",
    completed_at="2026-01-02T03:04:06+00:00",
    metadata=METADATA,
    pages=(RESULT,),
)
FINALIZE = FinalizeRequest(
    job_id="job-7",
    source="a.pdf",
    sha256=SHA,
    reading="reading",
    user_id="ada",
    page_count=1,
    routes=("openai:gpt",),
    records=(RECORD,),
    vision_pages=1,
    timeout_occurred=False,
    started_at="2026-01-02T03:04:05+00:00",
    completed_at="2026-01-02T03:04:06+00:00",
)
SNAPSHOT = Snapshot(
    job_id="job-7",
    now=1000.0,
    deadline=1180.0,
    in_flight=1,
    policy=DispatchPolicy(),
    routes=(RouteView(route=ROUTE, breaker=OPEN, in_flight=1), RouteView(route=LOCAL)),
    pages=(PageView(page=7, classification=Classification.SCANNED, barred=(0,)),),
)

# By label and case. Of a type that leaves its defaults out there is one of each case.
EXAMPLES: dict[str, dict[str, BaseModel]] = {
    "AttemptFailure": {
        "bare": AttemptFailure(kind=FailureKind.BUG, message="A fault."),
        "full": AttemptFailure(
            kind=FailureKind.RATE,
            message="Slow down.",
            milliseconds=12,
            retry_after_s=2.5,
            wasted=PAID,
        ),
    },
    "AttemptReceipt": {
        "bare": AttemptReceipt(milliseconds=850, chars=2048),
        "full": AttemptReceipt(
            milliseconds=850,
            chars=2048,
            stored=True,
            reused=True,
            paid=PAID,
            wasted=UNPRICED,
            read_by=2,
            pause_s=2.5,
            worker="a1b2",
            confidence=0.93,
            kept_layer=True,
        ),
    },
    "AttemptRest": {
        "bare": AttemptRest(reason="SERVER", rest_s=2.5),
        "full": AttemptRest(reason="AUTH", rest_s=30.0, failing_s=12.5, of_provider=True),
    },
    "AttemptRequest": {
        "bare": AttemptRequest(brief="0123456789abcdef", page=7, seconds=42.5),
        "full": AttemptRequest(
            brief="0123456789abcdef",
            page=7,
            seconds=42.5,
            route=1,
            begun_at=(3, 1),
            take=2,
            hurried=True,
            again=True,
            another_opinion=True,
            protocol=2,
            attempt=4,
            proven=True,
        ),
    },
    "Brief": {"main": BRIEF},
    "Carried": {"bare": BARE_CARRIED, "full": CARRIED},
    "CarriedDispatch": {"bare": CarriedDispatch(), "full": DISPATCH},
    "CarriedPage": {"bare": CarriedPage(page=7), "full": PAGE},
    "DocumentPlan": {"main": PLAN},
    "DocumentReport": {"main": REPORT},
    "DocumentRequest": {"full": DocumentRequest(**ASKED)},
    "DocumentRun": {
        "bare": DocumentRun(job_id="job-7", source="/a.pdf"),
        "full": DocumentRun(**ASKED, carried=CARRIED),
    },
    "DocumentStatus": {
        "bare": DocumentStatus(job_id="job-7", status="pending"),
        "full": DocumentStatus(
            job_id="job-7",
            status="running",
            progress_detail=ProgressDetail(page_errors={7: ERROR}, pages_by_source={"ai": 3}),
        ),
    },
    "ErrorInfo": {
        "main": ErrorInfo(
            code=Code.NOT_PDF, reason="EMPTY", error_type="terminal", message="m", remedy="r"
        )
    },
    "FinalizeRequest": {"main": FINALIZE},
    "LayerFacts": {
        "bare": LayerFacts(),
        "full": LayerFacts(
            bad=0.01, odd=0.2, hidden=1.0, traced=True, pictures=((0.1, 0.2, 0.5, 0.9),)
        ),
    },
    "PageRecord": {"bare": PageRecord(page=7), "full": RECORD},
    "PageSurvey": {
        "main": PageSurvey(page=1, classification=Classification.BLANK, reason="no ink")
    },
    "Selection": {
        "bare": Selection(),
        "full": Selection(
            assign=(
                Assignment(page=7, route=1, seconds=42.5, how="probe"),
                Assignment(page=8, route=0, seconds=9.125),
            ),
            fall_back=(9,),
            defer=(Deferral(page=10, not_before=1012.5),),
            wake_at=1030.5,
            hedge_due=True,
        ),
    },
    "Snapshot": {"main": SNAPSHOT},
    "SourceReceipt": {"main": RECEIPT},
    "StoredAnswer": {
        "main": StoredAnswer(
            text="Ä text.\n",
            provider="openai",
            model="gpt-6.1-sol",
            milliseconds=850,
            usage=Usage(input_tokens=1200, output_tokens=340),
            bought_by="run-7",
        )
    },
    "StoredResult": {"main": StoredResult(report=REPORT, text_sha256=SHA)},
}


def record() -> dict[str, dict[str, str]]:
    """The very text: hashes are made of it, and the order of fields is part of it."""
    return {
        label: {case: one.model_dump_json() for case, one in cases.items()}
        for label, cases in EXAMPLES.items()
    }
