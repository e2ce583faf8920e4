"""What keeps a job from going on, in lines for people: looked up while a command follows it."""

import asyncio
import time

from quire.cli.output import say
from quire.cli.program import as_called
from quire.contracts.status import DocumentStatus
from quire.jobs.absent import missing_for
from quire.jobs.session import Jobs

# The first look waits until a worker that is there would have taken the job.
LOOK_EVERY_S = 1.5
# A worker that is there answers sooner, unless it replays the document first.
SOON_S = 3.0
# Another worker takes over the documents of a lost one sooner than this.
LONG_S = 10.0


class JobWatch:
    """The age of a job's last answer, and what it waits for that is missing.

    `run` looks at intervals. What is missing counts once two looks in a row have found it: a worker
    may be about to start.
    """

    def __init__(self, jobs: Jobs, job_id: str) -> None:
        self._jobs = jobs
        self._job_id = job_id
        self._status: DocumentStatus | None = None
        self._answered_at = time.monotonic()
        self.lines: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """How many seconds ago the last answer came."""
        return time.monotonic() - self._answered_at

    @property
    def is_old(self) -> bool:
        """Whether the last answer no longer shows how the job stands."""
        return self.seconds > SOON_S

    def answered(self, status: DocumentStatus | None = None) -> None:
        """A worker has answered, maybe with the job's status."""
        self._answered_at = time.monotonic()
        self._status = status or self._status

    async def run(self, *, aloud: bool = False) -> None:
        """Look until cancelled; `aloud` prints each line when it becomes true."""
        before: list[str] = []
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            found = await self._look()
            lines = tuple(line for line in found if line in before)
            for line in lines if aloud else ():
                if line not in self.lines:
                    say(line)
            before, self.lines = found, lines

    async def _look(self) -> list[str]:
        status, late = None, self.seconds > LONG_S
        if not self.is_old:
            status = self._status or DocumentStatus(job_id=self._job_id, status="pending")
        missing = await missing_for(self._jobs, self._job_id, status, late=late)
        return [as_called(waits.words()) for waits in missing]
