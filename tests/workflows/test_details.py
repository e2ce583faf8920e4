"""The Web UI's details: pure, truthful and safe to show."""

from quire.contracts.carried import Carried
from quire.contracts.codes import FailureKind
from quire.contracts.document import DocumentRequest
from quire.contracts.money import Paid
from quire.contracts.page import AttemptNote, PageRecord
from quire.contracts.plan import DocumentPlan
from quire.contracts.reading import ReadingOptions
from quire.contracts.routing import BreakerPolicy, Chain, DispatchPolicy, Route
from quire.contracts.selection import Assignment, Selection
from quire.contracts.steps import AttemptFailure, AttemptReceipt, DocumentReceipt
from quire.domain.cost import Spending
from quire.domain.document.details import GAP, bar, render_request
from workflows.document.details import render_details
from workflows.document.progress import Phase
from workflows.document.state import DocumentState

# Eight in the evening of the first day.
EIGHT = 72_000.0
REQUEST = DocumentRequest(job_id="job", source="store:1", source_name="report.pdf", user_id="ada")


def shown(state: DocumentState, now: float, request: DocumentRequest = REQUEST) -> str:
    return render_details(request, state, now).replace(GAP, " ")


def surveyed(classes: str) -> Carried:
    routes = (Route(provider="openai", model="one"), Route(provider="anthropic", model="two"))
    plan = DocumentPlan(
        chain=Chain(routes=routes),
        deadline_s=180,
        breaker=BreakerPolicy(),
        dispatch=DispatchPolicy(),
        reading=ReadingOptions(system_prompt=""),
        every_page=False,
    )
    return Carried(
        plan=plan,
        source=DocumentReceipt(sha256="0" * 64, bytes=1, page_count=len(classes)),
        brief="",
        classes=classes,
        started=EIGHT,
        deadline=EIGHT + 180,
    )


def state_of(carried: Carried) -> DocumentState:
    state = DocumentState("job", started=EIGHT)
    state.progress.phase = Phase.DISPATCH
    state.pages.choose(None, carried.source.page_count)
    state.take_up(carried, text_only=False)
    return state


def start(state: DocumentState, page: int, route: int) -> None:
    assignment = Assignment(page=page, route=route, seconds=60.0, how="now")
    state.pages.require_dispatch().apply(Selection(assign=(assignment,)))


def test_before_the_survey_there_is_little_to_tell() -> None:
    text = shown(DocumentState("job", started=EIGHT), EIGHT + 1)
    assert "0 of 0 pages" in text
    assert "route" not in text
    assert "count" not in text


def test_what_was_asked_for_is_shown_as_far_as_it_is_known() -> None:
    """A client of a cluster knows neither the engine nor the deadline; the plan does."""
    start = render_request(REQUEST, None).replace(GAP, " ")
    for row in (
        "| file | report.pdf |",
        "| pages | all |",
        "| engine | as the workers have it, tier primary |",
        "| owner | ada |",
        "| deadline | as the workers have it |",
        "| job | job |",
    ):
        assert row in start
    assert start in shown(DocumentState("job", started=EIGHT), EIGHT + 1)
    asked = REQUEST.model_copy(update={"engine": "openai", "deadline_s": 90.0, "pages": "1-3"})
    text = render_request(asked, "openai").replace(GAP, " ")
    for row in ("| pages | 1-3 |", "| engine | openai, tier primary |", "| deadline | 90 s |"):
        assert row in text

    planned = shown(state_of(surveyed("TS")), EIGHT + 1)
    for row in (
        "| file | report.pdf |",
        "| engine | openai, tier primary |",
        "| owner | ada |",
        "| deadline | 1970-01-01 20:03:00 UTC (180 s) |",
    ):
        assert row in planned
    no_model = REQUEST.model_copy(update={"text_only": True})
    assert "| engine | none, MuPDF's text only |" in shown(
        state_of(surveyed("TS")), EIGHT, no_model
    )


def test_a_failing_vendor_is_seen_with_its_time_to_retry() -> None:
    state = failing()
    text = shown(state, EIGHT + 20)
    assert "3 of 6 pages" in text
    assert "as of 1970-01-01 20:00:20 UTC; began 20:00:00 UTC; deadline 20:03:00 UTC; $" in text
    assert "$0.0015 for 120 tokens" in text
    assert "| mupdf | 2 | 1-2 |" in text
    assert "| ai | 1 | 4 |" in text
    assert "| waiting | 3 | 3,5-6 |" in text
    assert "| openai:one | open SERVER | 20:00:40 | 0 | 0 |" in text
    assert "| anthropic:two | closed |  | 0 | 1 |" in text
    assert "| 3 | openai:one | GW_5XX | 503 / (b>busy(/b> sorry 'x' |" in text


def failing(carried: Carried | None = None) -> DocumentState:
    """One vendor has failed on page 3, the other has read page 4."""
    state = state_of(carried or surveyed("TTHHHS"))
    pages = state.pages.require_dispatch()
    start(state, 3, 0)
    failure = AttemptFailure(
        kind=FailureKind.SERVER, message="openai:one: 503 | <b>busy</b>\nsorry `x`"
    )
    pages.failed(3, failure, EIGHT + 10)
    state.attempt_failed(3)
    start(state, 4, 1)
    receipt = AttemptReceipt(milliseconds=10, chars=5, paid=Paid(100, 20, 1500))
    pages.succeeded(4, receipt, 0.0)
    state.progress.spent.add(receipt.paid)
    return state


def test_what_is_shown_stays_true_while_nothing_happens() -> None:
    """Nothing is counted from the moment of drawing, for it may be looked at much later."""
    state = failing()
    soon, late = shown(state, EIGHT + 20), shown(state, EIGHT + 170)
    assert soon != late
    assert soon.replace("as of 1970-01-01 20:00:20", "as of 1970-01-01 20:02:50") == late


def test_moments_of_another_day_have_their_date() -> None:
    state = failing()
    assert "| 1970-01-01 20:00:40 |" in shown(state, EIGHT + 86_400)
    assert "began 1970-01-01 20:00:00 UTC" in shown(state, EIGHT + 86_400)


def test_the_next_run_shows_the_same() -> None:
    """A person who looks does not see that history was cut."""
    start = surveyed("TTHHHS")
    state = failing(start)
    onward = Carried.model_validate_json(state.carry(start).model_dump_json())
    assert shown(state_of(onward), EIGHT + 20) == shown(state, EIGHT + 20)


def test_pages_of_an_earlier_result_count_for_the_route_that_read_them() -> None:
    record = PageRecord(page=1, attempts=(AttemptNote(3, "ok"),))
    taken_over = {"records": (record,), "past_routes": ("old:model", "anthropic:two")}
    state = state_of(surveyed("SS").model_copy(update=taken_over))
    assert "| anthropic:two | closed |  | 0 | 1 |" in shown(state, EIGHT)


def test_the_end_says_how_long_it_took() -> None:
    state = failing()
    state.close(timed_out=True, cancelled=False)
    state.complete(EIGHT + 180, "3 of 6 pages degraded. `quire retry job` reads them again.")
    text = shown(state, EIGHT + 180)
    assert "3 of 6 pages degraded. 'quire retry job' reads them again." in text
    assert "ended 1970-01-01 20:03:00 UTC after 180 s; the deadline passed" in text
    assert "as of" not in text
    assert "| owner | ada |" in text


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
