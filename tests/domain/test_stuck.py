"""When a document is stuck, and when it may be started again."""

import pytest

from quire.contracts.names import LONGEST_DEADLINE_S
from quire.contracts.watch import Healed, StuckDocument
from quire.domain.document.stuck import (
    OpenRun,
    execution_timeout_s,
    may_be_healed,
    parse_healed,
    still_stuck,
)


def run(**facts: bool | int) -> StuckDocument | None:
    known: dict[str, bool | int] = {
        "marked": False,
        "overdue": False,
        "tries": 0,
        "activities": 0,
        "healed": 0,
    }
    known |= facts
    return OpenRun(job_id="j", run_id="r", **known).judged()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"marked": True, "tries": 3}, "tasks_fail"),
        ({"marked": True, "tries": 3, "activities": 4}, "tasks_fail"),
        ({"overdue": True, "tries": 2, "activities": 1}, "tasks_fail"),
        ({"overdue": True}, "past_deadline"),
        # Nobody says that it fails, but no worker ever answers.
        ({"marked": True, "tries": 5, "unanswered": True}, "tasks_fail"),
        ({"overdue": True, "marked": True, "tries": 2, "unanswered": True}, "tasks_fail"),
    ],
)
def test_stuck(facts: dict[str, bool | int], why: str) -> None:
    found = run(**facts)
    assert found is not None
    assert found.why == why


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"activities": 3},
        # Its workers were killed, one after the other.
        {"marked": True, "tries": 4, "unanswered": True},
        # One failed task, which the next try may mend.
        {"tries": 2},
        # After an outage: its first task waits for a worker, or its result is being written.
        {"overdue": True, "tries": 1},
        {"overdue": True, "activities": 1},
        {"overdue": True, "tries": 1, "activities": 5},
    ],
)
def test_not_stuck(facts: dict[str, bool | int]) -> None:
    assert run(**facts) is None


def seen(run_id: str, tries: int) -> StuckDocument:
    return StuckDocument(job_id=f"of-{run_id}", run_id=run_id, why="tasks_fail", tries=tries)


def test_only_what_is_found_twice_without_progress() -> None:
    before = [seen("a", 3), seen("b", 5), seen("gone", 4), seen("waits", 0)]
    now = [seen("new", 3), seen("waits", 0), seen("b", 3), seen("a", 4)]
    assert [one.run_id for one in still_stuck(before, now)] == ["a", "waits"]


def test_once() -> None:
    stuck = seen("a", 3)
    assert may_be_healed(stuck)
    assert not may_be_healed(stuck.model_copy(update={"healed": 1}))


@pytest.mark.parametrize("deadline", [1.0, 180.0, 86400.0, LONGEST_DEADLINE_S])
def test_the_last_resort_is_far_behind_the_deadline(deadline: float) -> None:
    assert execution_timeout_s(deadline) > 2 * deadline + 6 * 86400
    assert execution_timeout_s(deadline) <= execution_timeout_s(None)
    assert execution_timeout_s(deadline, healed=True) >= 2 * deadline + 3600


@pytest.mark.parametrize("memo", [None, 7, "x", [1], {"count": "many"}, {"run_id": []}])
def test_a_foreign_memo_is_none(memo: object) -> None:
    assert parse_healed(memo) == Healed()
    assert parse_healed({"count": 1, "run_id": "r", "more": 1}) == Healed(count=1, run_id="r")
