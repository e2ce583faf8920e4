"""The breaker as a machine: any sequence of events, a few laws."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.routing import Breaker, BreakerPolicy, BreakerState, DispatchPolicy
from quire.domain.routing.breaker import admits, begin_probe, fail, lose_probe, succeed
from tests.domain.strategies import breaker_policies, quarters, quick, thorough

FIRST = BreakerPolicy(base_backoff_s=30, max_backoff_s=300)


@dataclass(frozen=True)
class Event:
    """Time passes, then the oldest or newest attempt under way ends in some way."""

    wait: float
    what: str
    newest: bool
    retry_after: float | None
    long_rest: bool


events = st.lists(
    st.builds(
        Event,
        wait=quarters(0, 90),
        what=st.sampled_from(["begin", "succeed", "fail", "lose"]),
        newest=st.booleans(),
        retry_after=st.none() | quarters(0, 400) | quarters(3000, 9000),
        long_rest=st.booleans(),
    ),
    max_size=25,
)


class Machine:
    """Drives a breaker as a scheduler does, and knows who is under way."""

    def __init__(self, policy: BreakerPolicy) -> None:
        self.policy = policy
        self.breaker = Breaker()
        self.now = 1000.0
        self.under_way: list[int] = []

    def step(self, event: Event) -> None:
        self.now += event.wait
        if event.what == "begin":
            self.begin()
        elif self.under_way:
            self.end(self.under_way.pop(-1 if event.newest else 0), event)

    def begin(self) -> None:
        admission = admits(self.breaker, self.now)
        if admission == "probe":
            self.breaker = begin_probe(self.breaker)
        if admission != "no":
            self.under_way.append(self.breaker.changes)

    def end(self, begun_at: int, event: Event) -> None:
        if event.what == "succeed":
            self.breaker = succeed(self.breaker, begun_at, self.now, self.policy)
        elif event.what == "lose":
            self.breaker = lose_probe(self.breaker, begun_at)
        else:
            self.breaker = fail(
                self.breaker,
                begun_at,
                self.now,
                self.policy,
                reason="SERVER",
                retry_after_s=event.retry_after,
                long_rest=event.long_rest,
            )


@thorough
@given(breaker_policies, events)
def test_laws_of_any_life(policy: BreakerPolicy, life: list[Event]) -> None:
    machine = Machine(policy)
    for event in life:
        before = machine.breaker
        was_under_way = list(machine.under_way)
        machine.step(event)
        after = machine.breaker
        assert after.retry_at >= before.retry_at, "a cooldown was shortened"
        assert after.changes >= before.changes
        if after.state is not before.state:
            assert after.changes > before.changes
        if after.state is BreakerState.HALF_OPEN:
            assert machine.under_way.count(after.changes) == 1, "not exactly one probe"
            assert admits(after, machine.now) == "no"
        if after.state is BreakerState.OPEN:
            assert admits(after, after.retry_at) == "probe"
            assert admits(after, after.retry_at - 0.25) == "no"
        if event.what != "begin" and before.changes not in was_under_way:
            assert after == before, "a result of the past moved the breaker"
        if before.state is not BreakerState.OPEN and after.state is BreakerState.OPEN:
            rested = after.retry_at - machine.now
            if event.what == "fail":
                assert rested >= min(event.retry_after or 0.0, policy.long_rest_s)
                assert rested >= (
                    policy.cooldown_s
                    or min(policy.base_backoff_s * 2 ** (after.failures - 1), policy.max_backoff_s)
                )
                assert after.failures == before.failures + 1
            else:
                assert event.what == "lose"
                assert after.failures == before.failures


@quick
@given(breaker_policies, events)
def test_a_lost_probe_never_blocks_the_breaker(policy: BreakerPolicy, life: list[Event]) -> None:
    machine = Machine(policy)
    for event in life:
        machine.step(event)
    for begun_at in machine.under_way:
        machine.breaker = lose_probe(machine.breaker, begun_at)
    later = max(machine.now, machine.breaker.retry_at)
    assert admits(machine.breaker, later) != "no"


@pytest.mark.parametrize(
    ("failures", "rest"), [(1, 30), (2, 60), (3, 120), (4, 240), (5, 300), (6, 300), (5000, 300)]
)
def test_cooldown_doubles_up_to_its_maximum(failures: int, rest: float) -> None:
    probing = Breaker(state=BreakerState.HALF_OPEN, failures=failures - 1, changes=7)
    opened = fail(probing, 7, 1000.0, FIRST, reason="SERVER")
    assert opened.retry_at == 1000.0 + rest
    assert opened.failures == failures


@pytest.mark.parametrize(("retry_after", "rest"), [(None, 30), (0.0, 30), (29.0, 30), (95.0, 95)])
def test_never_shorter_than_what_the_vendor_asks(retry_after: float | None, rest: float) -> None:
    opened = fail(Breaker(), 0, 1000.0, FIRST, reason="RATE", retry_after_s=retry_after)
    assert opened.retry_at == 1000.0 + rest


@pytest.mark.parametrize("long_rest", [True, False])
@pytest.mark.parametrize("retry_after", [3600.0, 3601.0, 86400.0, 1e300, float("inf")])
def test_vendor_that_asks_for_days_gets_the_longest_rest(
    retry_after: float, long_rest: bool
) -> None:
    opened = fail(
        Breaker(), 0, 1000.0, FIRST, reason="RATE", retry_after_s=retry_after, long_rest=long_rest
    )
    assert opened.retry_at == 1000.0 + FIRST.long_rest_s


def test_later_failure_never_shortens_a_rest() -> None:
    resting = Breaker(state=BreakerState.HALF_OPEN, retry_at=9000.0, changes=4)
    assert fail(resting, 4, 1000.0, FIRST, reason="SERVER").retry_at == 9000.0


def test_long_rest_outlasts_the_maximum_backoff() -> None:
    opened = fail(Breaker(), 0, 1000.0, FIRST, reason="AUTH", long_rest=True)
    assert opened.retry_at == 1000.0 + FIRST.long_rest_s


def test_a_herd_of_failures_opens_once() -> None:
    breaker = Breaker()
    for moment in range(10):
        breaker = fail(breaker, 0, 1000.0 + moment, FIRST, reason="SERVER")
    assert (breaker.failures, breaker.changes, breaker.retry_at) == (1, 1, 1030.0)


def test_success_of_the_past_does_not_close() -> None:
    opened = fail(Breaker(), 0, 1000.0, FIRST, reason="SERVER")
    assert succeed(opened, 0, 0.0, FIRST) == opened
    probing = begin_probe(opened)
    assert succeed(probing, 0, 0.0, FIRST) == probing
    assert succeed(probing, opened.changes, 0.0, FIRST) == probing


def test_probe_that_succeeds_closes_and_forgets_the_failures() -> None:
    probing = begin_probe(fail(Breaker(), 0, 1000.0, FIRST, reason="SERVER"))
    closed = succeed(probing, probing.changes, 0.0, FIRST)
    assert closed.state is BreakerState.CLOSED
    assert (closed.failures, closed.reason) == (0, "")
    assert admits(closed, 0.0) == "yes"


def test_probe_that_fails_reopens_for_longer() -> None:
    opened = fail(Breaker(), 0, 1000.0, FIRST, reason="SERVER")
    probing = begin_probe(opened)
    again = fail(probing, probing.changes, 1030.0, FIRST, reason="SERVER")
    assert again.retry_at - 1030.0 == 2 * (opened.retry_at - 1000.0)


def test_lost_probe_frees_its_place_at_once_and_only_its_own() -> None:
    opened = fail(Breaker(), 0, 1000.0, FIRST, reason="SERVER")
    probing = begin_probe(opened)
    assert admits(probing, 5000.0) == "no"
    assert lose_probe(probing, 0) == probing
    lost = lose_probe(probing, probing.changes)
    assert admits(lost, 1030.0) == "probe"
    assert lost.retry_at == opened.retry_at
    # The next probe is another one: the lost one's late result says nothing about it.
    following = begin_probe(lost)
    assert fail(following, probing.changes, 1031.0, FIRST, reason="SERVER") == following


@quick
@given(
    window=st.integers(1, 20),
    threshold=st.sampled_from([0.1, 0.25, 0.35, 0.5, 0.55, 0.7, 0.75, 1.0]),
    calls=st.text("ox", max_size=40),
)
def test_window_opens_exactly_at_its_share(window: int, threshold: float, calls: str) -> None:
    policy = BreakerPolicy(trip="window", window=window, threshold=threshold)
    breaker = Breaker()
    for number, call in enumerate(calls, start=1):
        if call == "o":
            breaker = succeed(breaker, 0, 0.0, policy)
        else:
            breaker = fail(breaker, 0, 1000.0, policy, reason="SERVER")
        bad = calls[max(0, number - window) : number].count("x")
        # Only a failure opens it; an old one sliding out of view never does.
        expected = call == "x" and bad >= Fraction(str(threshold)) * window
        assert (breaker.state is BreakerState.OPEN) == expected
        if expected:
            break


@pytest.mark.parametrize(
    ("window", "threshold", "needed"),
    # 0.07 * 100 and 0.55 * 100 come out a little above the whole number they stand for.
    [(100, 0.07, 7), (100, 0.55, 55), (20, 0.35, 7), (100, 0.29, 29), (20, 0.5, 10), (3, 0.5, 2)],
)
def test_window_threshold_means_what_is_written(window: int, threshold: float, needed: int) -> None:
    policy = BreakerPolicy(trip="window", window=window, threshold=threshold)
    breaker = Breaker()
    for number in range(1, needed + 1):
        breaker = fail(breaker, 0, 1000.0, policy, reason="SERVER")
        assert (breaker.state is BreakerState.OPEN) == (number == needed)


def test_window_does_not_soften_a_long_rest() -> None:
    policy = BreakerPolicy(trip="window")
    assert fail(Breaker(), 0, 0.0, policy, reason="AUTH", long_rest=True).state == "open"
    assert fail(Breaker(), 0, 0.0, policy, reason="SERVER").state == "closed"


def test_window_is_empty_after_recovery() -> None:
    policy = BreakerPolicy(trip="window", window=2, threshold=0.5)
    opened = fail(Breaker(), 0, 0.0, policy, reason="SERVER")
    probing = begin_probe(opened)
    closed = succeed(probing, probing.changes, 0.0, policy)
    assert closed.recent == ""


def test_first_keeps_no_window() -> None:
    assert succeed(Breaker(), 0, 0.0, FIRST) == Breaker()


@quick
@given(
    window_s=quarters(1, 60),
    threshold=st.sampled_from([0.25, 0.5, 0.75, 1.0]),
    calls=st.lists(st.tuples(quarters(0, 20), st.sampled_from("ox")), max_size=40),
)
def test_window_of_time_counts_the_calls_of_that_time(
    window_s: float, threshold: float, calls: list[tuple[float, str]]
) -> None:
    policy = BreakerPolicy(trip="window", window_s=window_s, threshold=threshold)
    breaker, now, seen = Breaker(), 1000.0, list[tuple[float, str]]()
    for wait, outcome in calls:
        now += wait
        seen.append((now, outcome))
        if outcome == "o":
            breaker = succeed(breaker, 0, now, policy)
        else:
            breaker = fail(breaker, 0, now, policy, reason="SERVER")
        inside = [kind for at, kind in seen if at > now - window_s]
        bad = Fraction(inside.count("x"), len(inside))
        expected = outcome == "x" and len(inside) >= 5 and bad >= Fraction(str(threshold))
        assert (breaker.state is BreakerState.OPEN) == expected
        if expected:
            assert breaker.times == ()
            return
        assert breaker.recent == "".join(inside)
        assert len(breaker.times) == len(inside)


def test_window_of_time_does_not_grow_without_end() -> None:
    policy = BreakerPolicy(trip="window", window_s=86400.0)
    breaker = Breaker()
    for second in range(1500):
        breaker = succeed(breaker, 0, float(second), policy)
    assert len(breaker.recent) == len(breaker.times) == 1000


def test_cooldown_does_not_grow() -> None:
    policy = BreakerPolicy(base_backoff_s=30, max_backoff_s=300, cooldown_s=7.0)
    breaker, now = Breaker(), 0.0
    for _ in range(5):
        breaker = fail(breaker, breaker.changes, now, policy, reason="SERVER")
        assert breaker.retry_at == now + 7.0
        now = breaker.retry_at
        breaker = begin_probe(breaker)
    asked = fail(breaker, breaker.changes, now, policy, reason="RATE", retry_after_s=60.0)
    assert asked.retry_at == now + 60.0
    long = fail(breaker, breaker.changes, now, policy, reason="AUTH", long_rest=True)
    assert long.retry_at == now + policy.long_rest_s


def test_what_is_not_used_is_not_written() -> None:
    unused = {"cooldown_s", "window_s", "times", "max_delay_s"}
    for written in (Breaker(), BreakerPolicy(), DispatchPolicy()):
        assert not unused & set(written.model_dump(mode="json"))
    used = BreakerPolicy(cooldown_s=1.0, window_s=2.0)
    assert BreakerPolicy.model_validate_json(used.model_dump_json()) == used
    timed = Breaker(recent="x", times=(1.0,))
    assert Breaker.model_validate_json(timed.model_dump_json()) == timed
