"""How long one attempt may take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.domain.routing.time_budget import (
    GRACE_S,
    SHORTEST_ATTEMPT_S,
    attempt_seconds,
    seconds_after_waiting,
    timeout_counts,
)
from tests.domain.strategies import quarters, quick


@pytest.mark.parametrize(
    ("timeout", "left", "others", "proven", "seconds"),
    [
        (60, 180, 2, False, 60),
        (60, 180, 0, False, 60),
        (60, 90, 2, False, 30),
        (60, 90, 2, True, 60),
        (60, 20, 2, True, 20),
        (60, 0.1, 0, True, SHORTEST_ATTEMPT_S),
        (60, -5, 3, False, SHORTEST_ATTEMPT_S),
        (0.25, 180, 2, False, 0.25),
        (0.25, 0.1, 0, True, 0.25),
        (0.25, -5, 0, False, 0.25),
    ],
)
def test_share(timeout: float, left: float, others: int, proven: bool, seconds: float) -> None:
    assert attempt_seconds(timeout, left, others, proven=proven) == seconds


@quick
@given(timeout=quarters(1, 600), left=quarters(1, 600), others=st.integers(0, 8))
def test_routes_in_a_row_fit_before_the_deadline(timeout: float, left: float, others: int) -> None:
    """Each takes all it is given and hangs: the last still gets its turn."""
    turns = 0
    for still_to_try in range(others, -1, -1):
        if left < SHORTEST_ATTEMPT_S:
            break
        left -= attempt_seconds(timeout, left, still_to_try, proven=False)
        turns += 1
    assert left >= -SHORTEST_ATTEMPT_S
    assert turns == others + 1 or left < SHORTEST_ATTEMPT_S


@quick
@given(timeout=quarters(0.25, 600), left=quarters(-9, 600), others=st.integers(0, 8))
def test_nobody_gets_more_than_the_timeout(timeout: float, left: float, others: int) -> None:
    for proven in (True, False):
        assert attempt_seconds(timeout, left, others, proven=proven) <= timeout


@pytest.mark.parametrize(("given_s", "counts"), [(60.0, True), (30.0, True), (29.9, False)])
def test_timeout_counts_only_when_the_vendor_had_its_time(given_s: float, counts: bool) -> None:
    assert timeout_counts(given_s, 60.0) is counts


@pytest.mark.parametrize(
    ("given", "waited", "seconds"),
    [
        (20, 0, 20),
        (20, GRACE_S, 20),
        (20, GRACE_S + 5, 15),
        (20, 300, SHORTEST_ATTEMPT_S),
        (60, 300, 60),  # the provider's own time: no share was cut short
        (40, GRACE_S + 5, 35),
        (40, 300, 30),  # its timeout will count: it must have had half of the usual time
    ],
)
def test_waiting_uses_up_a_share(given: float, waited: float, seconds: float) -> None:
    assert seconds_after_waiting(given, 60, waited) == seconds


@quick
@given(given=quarters(1, 60), timeout=quarters(1, 60), waited=quarters(0, 600))
def test_waiting_never_adds_time_nor_makes_a_timeout_unfair(
    given: float, timeout: float, waited: float
) -> None:
    left = seconds_after_waiting(given, timeout, waited)
    assert 0 < left <= given
    assert timeout_counts(left, timeout) == timeout_counts(given, timeout)
