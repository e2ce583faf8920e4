"""One line under the adaptive rule: what a refusal, a failure, a hang and an answer do to it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.codes import FailureKind
from quire.contracts.routing import Breaker, BreakerPolicy, BreakerState, Route
from quire.contracts.steps import AttemptFailure
from quire.domain.errors import MEANING
from quire.domain.routing.adaptive_health import AdaptiveHealth, health_of
from quire.domain.routing.breaker import admits, begin_probe
from quire.domain.routing.health import Call
from quire.domain.routing.line import Blow, FailureSort, answer, fail, looks_dead, sort_of
from tests.domain.strategies import KINDS, NOW, failure, quarters, thorough

POLICY = BreakerPolicy(trip="adaptive")
ROUTE = Route(provider="a", model="m", limit=4)


def hit(
    line: Breaker,
    sort: FailureSort,
    now: float = NOW,
    *,
    retry_after_s: float | None = None,
    left: int = 0,
    began: float | None = None,
    begun_at: int | None = None,
) -> Breaker:
    blow = Blow(sort, "REASON", NOW if began is None else began, retry_after_s, left)
    return fail(line, line.changes if begun_at is None else begun_at, now, POLICY, blow)


def again(line: Breaker, sort: FailureSort, times: int) -> Breaker:
    """So many failures in a row, each as soon as the line may be tried."""
    for _ in range(times):
        now = max(NOW, line.retry_at)
        if admits(line, now) == "probe":
            line = begin_probe(line)
        line = hit(line, sort, now)
    return line


@pytest.mark.parametrize("kind", KINDS)
def test_every_failure_that_counts_has_a_sort(kind: FailureKind) -> None:
    if MEANING[kind].rests == "long":
        assert sort_of(failure(kind, 2.0)) == "out"
    elif kind is FailureKind.TIMEOUT:
        assert sort_of(failure(kind, 2.0)) == "hung"
    elif kind in (FailureKind.RATE, FailureKind.SERVER):
        assert sort_of(failure(kind, 2.0)) == "pace"
    elif MEANING[kind].trips:
        assert sort_of(failure(kind, 2.0)) == "sick"
    assert sort_of(failure(FailureKind.SERVER)) == "sick"
    for nothing in (0.0, -5.0, math.nan):
        assert sort_of(failure(FailureKind.SERVER, nothing)) == "sick"


# --- pace ----------------------------------------------------------------------------------


def test_refusal_slows_down_and_opens_nothing() -> None:
    line = hit(Breaker(), "pace", left=2)
    assert line.state is BreakerState.CLOSED
    assert (line.width, line.retry_at - NOW) == (3, 0.25)
    assert admits(line, NOW) == "no"
    assert admits(line, NOW + 0.25) == "yes", "not by one probe, but by its width"


def test_herd_that_is_refused_together_is_one_strike() -> None:
    line = Breaker()
    for left in (3, 2, 1, 0):
        line = hit(line, "pace", NOW + 0.1 * (3 - left), begun_at=0, left=left)
    assert (line.streak, line.width) == (1, 1)
    asked = hit(line, "pace", NOW + 0.5, begun_at=0, retry_after_s=7.0)
    assert (asked.streak, asked.retry_at) == (1, NOW + 7.5), "what one of them was told counts"


def test_each_answer_widens_until_the_limit_is_reached() -> None:
    line = hit(Breaker(), "pace")
    widths = []
    for _ in range(4):
        line = answer(line, line.changes, NOW + 1, 4)
        widths.append(line.width)
    assert widths == [2, 3, None, None]


def test_answer_of_before_ends_the_streak_and_keeps_the_rest() -> None:
    line = hit(Breaker(), "pace", retry_after_s=9.0)
    line = answer(line, 0, NOW + 1, 4)
    assert line.streak == 0
    assert admits(line, NOW + 8.9) == "no"
    assert admits(line, NOW + 9) == "yes"


def test_answer_does_not_cut_short_what_another_call_was_told() -> None:
    line = hit(Breaker(), "pace")
    line = hit(line, "pace", NOW + 1, begun_at=0, retry_after_s=9.0)
    line = answer(line, line.changes, NOW + 2, 4)
    assert admits(line, NOW + 9.9) == "no"


def test_pause_that_a_vendor_announces_is_kept_and_is_no_failure() -> None:
    line = answer(Breaker(), 0, NOW, 4, pause_s=6.0)
    assert admits(line, NOW + 5.9) == "no"
    assert admits(line, NOW + 6) == "yes"
    assert not looks_dead(line, NOW + 1000)
    assert line.width is None
    for nothing in (None, 0.0, -3.0, math.nan):
        assert admits(answer(Breaker(), 0, NOW, 4, pause_s=nothing), NOW) == "yes"
    assert answer(Breaker(), 0, NOW, 4, pause_s=math.inf).retry_at == NOW + 3600


# --- sick and hung ---------------------------------------------------------------------------


def test_failure_opens_and_one_probe_asks_again_after_growing_rests() -> None:
    line, rests = answer(Breaker(), 0, NOW, 4), []
    for strike in range(1, 7):
        now = max(NOW, line.retry_at)
        line = hit(begin_probe(line) if strike > 1 else line, "sick", now)
        rests.append(line.retry_at - now)
    assert rests == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0]
    assert line.state is BreakerState.OPEN


def test_rest_is_spread_by_the_document_and_never_shorter() -> None:
    def rest(job_id: str) -> float:
        health = AdaptiveHealth([ROUTE], POLICY, job_id)
        health.failed(ROUTE, (0, 0), failure(FailureKind.SERVER), 60.0, NOW)
        return health.breakers["a:m"].retry_at - NOW

    rests = {rest(f"job {n}") for n in range(20)}
    assert len(rests) == 20
    assert min(rests) >= 0.25
    assert max(rests) <= 0.25 * 1.25
    assert rest("job 1") == rest("job 1")


def test_hang_says_nothing_where_others_were_answered_meanwhile() -> None:
    line = answer(Breaker(), 0, NOW + 10, 4)
    assert hit(line, "hung", NOW + 60, began=NOW) == line
    sick = hit(line, "hung", NOW + 60, began=NOW + 11)
    assert sick.state is BreakerState.OPEN
    assert sick.since == NOW + 11, "silent since that call began"


def test_meaningless_hang_of_a_probe_frees_its_place() -> None:
    line = begin_probe(hit(Breaker(), "sick"))
    line = line.model_copy(update={"last_answer": NOW + 5})
    after = hit(line, "hung", NOW + 60, began=NOW + 1)
    assert after.state is BreakerState.OPEN
    assert admits(after, NOW + 60) == "probe"


def test_streak_is_of_one_sort() -> None:
    line = again(Breaker(), "pace", 5)
    assert (line.streak, line.sort) == (5, "pace")
    line = hit(line, "sick", line.retry_at)
    assert (line.streak, line.sort) == (1, "sick")
    assert not looks_dead(line, line.retry_at)


def test_first_failure_of_all_counts_the_silence_whatever_its_sort() -> None:
    """Else a vendor that refuses and fails in turn would never look dead."""
    line = hit(hit(Breaker(), "pace", NOW), "sick", NOW + 10)
    assert line.since == NOW


# --- looks dead ------------------------------------------------------------------------------


@pytest.mark.parametrize(("strikes", "dead"), [(2, False), (3, True)])
def test_three_strikes_without_any_answer_look_dead(strikes: int, dead: bool) -> None:
    line = again(Breaker(), "sick", strikes)
    assert looks_dead(line, line.retry_at) is dead
    assert (line.retry_at - NOW > 30) is dead


def test_vendor_that_has_answered_or_refused_is_given_twenty_seconds() -> None:
    for line in (answer(Breaker(), 0, NOW, 4), hit(Breaker(), "pace")):
        line = again(line, "sick", 4)
        assert not looks_dead(line, NOW + 19.9)
        assert looks_dead(line, NOW + 20)
    alive = answer(line, 0, NOW + 15, 4)
    assert not looks_dead(alive, NOW + 34), "an answer, though of before it failed"


def test_dead_line_rests_long_and_ever_longer() -> None:
    line, rests = again(Breaker(), "sick", 2), []
    for _ in range(6):
        now = line.retry_at
        line = hit(begin_probe(line), "sick", now)
        rests.append(line.retry_at - now)
    assert rests == [30, 60, 120, 240, 300, 300]
    well = answer(begin_probe(line), line.changes + 1, line.retry_at, 4)
    assert well.state is BreakerState.CLOSED
    assert (well.streak, well.long_rests, well.failures) == (0, 0, 0)


def test_who_refuses_us_is_out_at_once() -> None:
    line = hit(answer(Breaker(), 0, NOW, 4), "out")
    assert looks_dead(line, NOW)
    assert line.retry_at == NOW + 3600


# --- any life --------------------------------------------------------------------------------

events = st.lists(
    st.tuples(
        st.sampled_from(["begin", "answer", "pace", "sick", "hung", "out", "lose"]),
        quarters(0, 30),
        st.none() | quarters(0, 400) | quarters(3000, 9000),
        st.booleans(),
    ),
    max_size=30,
)


@thorough
@given(events, st.integers(1, 4))
def test_laws_of_any_life(life: list[tuple[str, float, float | None, bool]], limit: int) -> None:
    """No rest is shortened, no place of a probe is lost, and a width is at least one."""
    route = ROUTE.model_copy(update={"limit": limit})
    health = health_of([route], POLICY, "job")
    under_way: list[tuple[int, int]] = []
    now = NOW
    for what, wait, seconds, newest in life:
        now += wait
        before = dict(health.breakers)
        if what == "begin":
            admissions = {admits(line, now) for line in health.of(route)}
            if "no" not in admissions:
                under_way.append(health.begin(route, probe="probe" in admissions))
            continue
        if not under_way:
            continue
        begun = under_way.pop(-1 if newest else 0)
        if what == "answer":
            health.answered(route, begun, now, seconds)
        elif what == "lose":
            health.lost(route, begun)
        else:
            kind = {"pace": "RATE", "sick": "CONNECT", "hung": "TIMEOUT", "out": "MODEL"}[what]
            failed = AttemptFailure(kind=FailureKind(kind), message="", retry_after_s=seconds)
            health.failed(route, begun, failed, 60.0, now, Call(chosen_at=now - wait))
        for key, line in health.breakers.items():
            assert line.retry_at >= before[key].retry_at, "a rest was shortened"
            assert line.changes >= before[key].changes
            assert line.width is None or 1 <= line.width < limit or limit == 1
            probes = [b for b in under_way if line.changes in b]
            assert line.state is not BreakerState.HALF_OPEN or probes, "its probe is lost"
            if line.retry_at > before[key].retry_at:
                assert line.retry_at - now <= 3600
                assert line.retry_at - now >= min(seconds or 0.0, 3600.0)
