"""When no worker answers: a person reads it once, and not at the first missed answer."""

import asyncio
import time

from quire.cli.output import say

# A lost worker's documents are taken over sooner than this.
LONG_S = 10.0
NOBODY = (
    "no worker answers; the document waits for one "
    "(start one with: worker.py; starter.py doctor says what is there)"
)


class Silence:
    """How long no worker has answered."""

    def __init__(self) -> None:
        self._answered_at = time.monotonic()
        self._said = False

    @property
    def seconds(self) -> float:
        """Since the last answer."""
        return time.monotonic() - self._answered_at

    @property
    def is_long(self) -> bool:
        """Whether a worker that takes over would have answered by now."""
        return self.seconds > LONG_S

    def answered(self) -> None:
        """A worker has answered."""
        self._answered_at, self._said = time.monotonic(), False

    def report(self) -> None:
        """One line when it has become long, and no more until a worker has answered."""
        if self.is_long and not self._said:
            say(NOBODY)
            self._said = True


async def say_later(line: str) -> None:
    """Say a line unless what it stands beside is done before; see `until_done`."""
    await asyncio.sleep(LONG_S)
    say(line)
