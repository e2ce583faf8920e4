"""How long ago a worker answered last, and one line for people when that is long."""

import asyncio
import time

from quire.cli.output import say
from quire.cli.program import tool_name, worker_name

# Another worker takes over the documents of a lost one sooner than this.
LONG_S = 10.0


def no_worker(waits: str = "the document waits for one") -> str:
    """One line: no worker answers, what waits for it, and what to do."""
    help_ = f"start one with: {worker_name()}; {tool_name()} doctor checks what runs"
    return f"no worker answers; {waits} ({help_})"


class AnswerAge:
    """The time since a worker last answered."""

    def __init__(self) -> None:
        self._answered_at = time.monotonic()
        self._reported = False

    @property
    def seconds(self) -> float:
        """How many seconds ago the last answer came."""
        return time.monotonic() - self._answered_at

    @property
    def is_long(self) -> bool:
        """Whether a worker that took over would have answered by now."""
        return self.seconds > LONG_S

    def answered(self) -> None:
        """A worker has answered."""
        self._answered_at, self._reported = time.monotonic(), False

    def report(self) -> None:
        """Print one line once the time is long, and no more until a worker has answered."""
        if self.is_long and not self._reported:
            say(no_worker())
            self._reported = True


async def say_later(line: str) -> None:
    """Print a line after a long time without an answer; for use with `until_done`."""
    await asyncio.sleep(LONG_S)
    say(line)
