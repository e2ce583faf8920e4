"""When a document is stuck, and what is done about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from quire.contracts.names import LONGEST_DEADLINE_S
from quire.contracts.watch import Healed, StuckDocument

# A document past its deadline still writes its result, and clocks differ.
GRACE_S = 60.0
# A document that starting again did not help is not started a third time.
MOST_HEALS = 1
# So often a task gets no answer in a row before that is its own doing: workers that are killed one
# after the other leave the same mark on a document that is well.
LOST_TRIES = 5
# Why a stuck run was ended. Whoever waits for it waits for the next one.
HEALED_REASON = "quire-watch: the document was stuck and is started again"
HEALED_WARNING = "the document was stuck and was started again; pages read before were kept"
# Documents outlive a week without workers. One that was started again has had its second chance.
_OUTAGE_S = 7 * 86400.0
_SECOND_CHANCE_S = 3600.0


@dataclass(frozen=True)
class OpenRun:
    """What the server says of an open document; nobody has to ask the document itself."""

    job_id: str
    run_id: str
    # The server has marked it: its workflow tasks fail, one after the other.
    marked: bool
    # Its deadline and the grace have passed.
    overdue: bool
    # How often its present workflow task was tried; 0 without one.
    tries: int
    # Activities under way or in a queue.
    activities: int
    healed: int
    # No worker has said that the present task fails: it only got no answer.
    unanswered: bool = False

    def judged(self) -> StuckDocument | None:
        """The document, if it is stuck."""
        why = why_stuck(self)
        if why is None:
            return None
        return StuckDocument(
            job_id=self.job_id, run_id=self.run_id, why=why, tries=self.tries, healed=self.healed
        )


def why_stuck(run: OpenRun) -> Literal["tasks_fail", "past_deadline"] | None:
    """Why the document cannot end by itself, or None.

    Past its deadline, one that waits for a worker to take its first task, or that has an activity
    under way, as after an outage, is still about to end.
    """
    if run.marked and (not run.unanswered or run.tries >= LOST_TRIES):
        return "tasks_fail"
    if not run.overdue:
        return None
    if run.tries > 1:
        return "tasks_fail"
    return "past_deadline" if run.tries == 0 and run.activities == 0 else None


def still_stuck(
    before: Iterable[StuckDocument], now: Iterable[StuckDocument]
) -> tuple[StuckDocument, ...]:
    """Those found twice without a task completed in between: that would begin to count anew."""
    tries = {one.run_id: one.tries for one in before}
    found = [one for one in now if one.run_id in tries and one.tries >= tries[one.run_id]]
    return tuple(sorted(found, key=lambda one: one.job_id))


def may_be_healed(document: StuckDocument) -> bool:
    """Whether it may be started again."""
    return document.healed < MOST_HEALS


def execution_timeout_s(deadline_s: float | None, *, healed: bool = False) -> float:
    """When the server ends a document that nothing else ends. Without a deadline of its own, the
    workers' counts, which may be the longest."""
    margin = _SECOND_CHANCE_S if healed else _OUTAGE_S
    return 2 * (deadline_s or LONGEST_DEADLINE_S) + margin


def parse_healed(memo: object) -> Healed:
    """The memo of a start, which may be anybody's."""
    try:
        return Healed.model_validate(memo)
    except ValueError:
        return Healed()
