"""When no worker answers: said once, and not at the first missed answer."""

import asyncio
import time

from quire.cli.exits import say

# A lost worker's documents are taken over sooner than this.
LONG_S = 10.0
NOBODY = (
    "no worker answers; the document waits for one "
    "(start one with: worker.py; starter.py doctor says what is there)"
)


class Silence:
    """How long nobody has answered."""

    def __init__(self) -> None:
        self._heard = time.monotonic()
        self._told = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._heard

    @property
    def is_long(self) -> bool:
        return self.seconds > LONG_S

    def heard(self) -> None:
        self._heard, self._told = time.monotonic(), False

    def tell(self) -> None:
        """One line when it has become long, and no more until someone was heard."""
        if self.is_long and not self._told:
            say(NOBODY)
            self._told = True


async def tell_later(line: str) -> None:
    """Beside a request that waits for a worker."""
    await asyncio.sleep(LONG_S)
    say(line)
