"""`watch --text`: the pages' text on standard output, in order."""

import asyncio
import sys

from quire.cli.job_watch import JobWatch
from quire.cli.output import say
from quire.jobs.handles import Handle
from quire.jobs.page_texts import PageTextReader
from quire.settings import Settings

QUERY_EVERY_S = 0.4


class TextPrinter:
    """Prints `text.txt` from its beginning while the job runs, and the rest from the result."""

    def __init__(self, settings: Settings) -> None:
        self._reader = PageTextReader(settings)
        self.written = ""

    async def run(self, handle: Handle, watch: JobWatch) -> None:
        """Write pages as they become ready, until cancelled."""
        while True:
            found = await self._reader.read_next(handle)
            if found.answered:
                watch.answered()
            for piece in found.pieces:
                self._write(piece)
            if not found.pieces:
                await asyncio.sleep(QUERY_EVERY_S)

    def finish(self, whole: str) -> None:
        """Write the rest of the finished document."""
        if whole.startswith(self.written):
            self._write(whole[len(self.written) :])
        else:
            say("A page was read again during the output; text.txt has its newest text.")

    def _write(self, piece: str) -> None:
        self.written += piece
        sys.stdout.write(piece)
        sys.stdout.flush()
