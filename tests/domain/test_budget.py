"""How long one attempt may take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.budget import SHORTEST_ATTEMPT_S, attempt_seconds, timeout_counts
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
