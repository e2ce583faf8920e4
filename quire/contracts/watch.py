"""What the watch over all documents takes, finds and answers.

Workers start it by a schedule, and `doctor` by hand; its activities write what they find."""

from typing import Literal

from pydantic import Field

from quire.contracts.base import Wire


class WatchRequest(Wire):
    """Look over all open documents."""

    # A document must be found stuck twice: so far apart.
    look_again_s: float = Field(default=20.0, ge=0, le=86_400)


class StuckDocument(Wire):
    """An open document that does not come to its end by itself."""

    job_id: str
    run_id: str
    why: Literal["tasks_fail", "past_deadline"]
    # How often its present workflow task was tried; 0 without one.
    tries: int = 0
    # How often it was started again for being stuck.
    healed: int = 0


class Healed(Wire):
    """The memo of a document that was started again."""

    count: int = 0
    # The run that was stuck first: what a forced run has bought is stored under it.
    run_id: str = ""
    # All its runs until then, each continuing the one before: what they bought is its own.
    runs: tuple[str, ...] = ()


class WatchResult(Wire):
    """By job id: what was started again, and what stays stuck since it was so before."""

    healed: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
