"""Attempts in short for history, and in full for people."""

from collections.abc import Iterable, Sequence

from quire.contracts.codes import Code, FailureKind
from quire.contracts.page import Attempt, AttemptNote
from quire.domain.errors import MEANING

OK = "ok"
DEADLINE = "DEADLINE"
CANCELLED = "CANCELLED"
# The page was asked of two routes at once, and the other was sooner.
CALLED_OFF = "CALLED_OFF"


def expand_attempts(notes: Iterable[AttemptNote], routes: Sequence[str]) -> tuple[Attempt, ...]:
    """The attempts as results and queries show them; `routes` are the chain's keys."""
    return tuple(
        Attempt(
            route=routes[note.route],
            outcome=note.outcome,
            code=_code(note.outcome),
            milliseconds=note.milliseconds,
        )
        for note in notes
    )


def _code(outcome: str) -> Code | None:
    ends = {OK: None, DEADLINE: Code.GW_TIMEOUT, CANCELLED: Code.NOT_READY, CALLED_OFF: None}
    return ends[outcome] if outcome in ends else MEANING[FailureKind(outcome)].code
