"""The Web UI's details: pure, truthful and safe to show."""

from domain.breaker import BreakerPolicy
from domain.carrying import Carried
from domain.contracts import AttemptFailure, AttemptReceipt, ReadingOptions, SourceReceipt
from domain.details import GAP, bar, render_details
from domain.errors import FailureKind
from domain.plan import DocumentPlan
from domain.progress import DocumentProgress
from domain.routes import Chain, Route
from domain.selection import Assignment, DispatchPolicy, Selection
from domain.spending import Paid, Spending


def progress_of(classes: str) -> DocumentProgress:
    progress = DocumentProgress("job", "ada", started=1000.0)
    routes = (Route(provider="openai", model="one"), Route(provider="anthropic", model="two"))
    plan = DocumentPlan(
        chain=Chain(routes=routes),
        deadline_s=180,
        breaker=BreakerPolicy(),
        dispatch=DispatchPolicy(),
        reading=ReadingOptions(system_prompt=""),
        every_page=False,
    )
    carried = Carried(
        plan=plan,
        source=SourceReceipt(sha256="0" * 64, bytes=1, page_count=len(classes)),
        brief="",
        classes=classes,
        started=1000.0,
        deadline=1180.0,
    )
    progress.phase = "dispatch"
    progress.choose_pages(None, len(classes))
    progress.take_up(carried, text_only=False)
    return progress


def start(progress: DocumentProgress, page: int, route: int) -> None:
    assignment = Assignment(page=page, route=route, seconds=60.0, how="now")
    progress.require_dispatch().apply(Selection(assign=(assignment,)))


def test_before_the_survey_there_is_little_to_tell() -> None:
    text = render_details(DocumentProgress("job", "ada", started=1000.0), now=1001.0)
    assert "0 of 0 pages" in text
    assert "|" not in text


def test_a_failing_vendor_is_seen_with_its_time_to_retry() -> None:
    progress = progress_of("TTHHHS")
    pages = progress.require_dispatch()
    start(progress, 3, 0)
    failure = AttemptFailure(kind=FailureKind.SERVER, message="503 | <b>busy</b>\nsorry `x`")
    pages.failed(3, failure, 1010.0)
    progress.erred(3)
    start(progress, 4, 1)
    receipt = AttemptReceipt(milliseconds=10, chars=5, paid=Paid(100, 20, 1500))
    pages.succeeded(4, receipt)
    progress.spent.add(receipt.paid)
    text = render_details(progress, now=1020.0).replace(GAP, " ")
    assert "3 of 6 pages" in text
    assert "deadline in 160 s" in text
    assert "$0.0015 for 120 tokens" in text
    assert "| mupdf | 2 | 1-2 |" in text
    assert "| ai | 1 | 4 |" in text
    assert "| waiting | 3 | 3,5-6 |" in text
    assert "| openai:one | open SERVER | in 20 s | 0 | 0 |" in text
    assert "| anthropic:two | closed |  | 0 | 1 |" in text
    assert "| 3 | openai:one | GW_5XX | 503 / (b>busy(/b> sorry 'x' |" in text


def test_the_bar_is_full_only_at_the_end() -> None:
    assert bar(0, 0, 4) == bar(0, 9, 4) == "░░░░"
    assert bar(8, 9, 4) == "███░"
    assert bar(9, 9, 4) == "████"


def test_unknown_prices_are_said_to_be_unknown() -> None:
    spent = Spending()
    spent.add(Paid.of(10, 5, None))
    assert spent.dollars is None
    assert spent.words() == "price unknown for 15 tokens"
    spent.add(Paid.of(1, 1, 0.02))
    assert spent.words() == "at least $0.0200 for 17 tokens"
