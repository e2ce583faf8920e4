"""Which workers count as alive."""

from quire.domain.workers.live_workers import (
    POLL_S,
    SILENT_S,
    Beat,
    LiveWorker,
    Poll,
    is_doubtful,
    live_workers,
)

ONE, OTHER = LiveWorker("1@host"), LiveWorker("2@host", "b1")


def beat(worker: LiveWorker = ONE, age_s: float = 1.0, **facts: bool) -> Beat:
    return Beat(worker, "quire", age_s, **facts)


def test_a_busy_worker_polls_no_more_and_lives() -> None:
    assert live_workers([Poll(ONE, 500.0)], [beat()]) == (ONE,)


def test_a_silent_worker_is_dead_though_it_polled_just_now() -> None:
    silent = beat(age_s=SILENT_S + 1)
    assert live_workers([Poll(ONE, 5.0)], [silent]) == ()
    assert live_workers([Poll(ONE, 5.0), Poll(OTHER, 5.0)], [silent]) == (OTHER,)


def test_a_worker_that_ended_in_order_is_gone_at_once() -> None:
    ended = beat(age_s=0.1, ended=True)
    assert live_workers([Poll(ONE, 0.2)], [ended]) == ()
    assert not is_doubtful([Poll(ONE, 0.2)], [ended])


def test_without_heartbeats_polls_count_for_a_minute() -> None:
    assert live_workers([Poll(ONE, POLL_S), Poll(OTHER, POLL_S + 1)], []) == (ONE,)


def test_a_successor_of_the_same_name_counts() -> None:
    """In a container every worker may be process 1."""
    assert live_workers([Poll(ONE, 5.0)], [beat(age_s=300.0), beat()]) == (ONE,)


def test_a_clock_that_differs_makes_no_worker_dead() -> None:
    """A second look decides: the heartbeat has moved on."""
    behind = beat(age_s=120.0)
    assert is_doubtful([Poll(ONE, 20.0)], [behind])
    assert live_workers([Poll(ONE, 20.0)], [beat(age_s=123.0, moved=True)]) == (ONE,)
    assert is_doubtful([Poll(ONE, 20.0)], [beat(age_s=-120.0)]), "a clock before ours"
    assert not is_doubtful([], [behind]), "forgotten by the server: dead for long"
    assert not is_doubtful([Poll(ONE, 20.0)], [beat()])
