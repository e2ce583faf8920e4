"""`watch --text`: the pages' text on standard output, in order."""

import asyncio
import sys

from quire.cli.no_answer import Silence
from quire.cli.output import say
from quire.jobs.handles import Handle
from quire.jobs.page_texts import PageTextReader
from quire.settings import Settings

LOOK_EVERY_S = 0.4


class TextPrinter:
    """What it has written is always a beginning of `text.txt`, so the rest can come from there."""

    def __init__(self, settings: Settings) -> None:
        self._reader = PageTextReader(settings)
        self.written = ""

    async def run(self, handle: Handle) -> None:
        """Write pages as they become ready, until cancelled."""
        silence = Silence()
        while True:
            found = await self._reader.read_next(handle)
            if found.answered:
                silence.answered()
            else:
                silence.report()
            for piece in found.pieces:
                self._write(piece)
            if not found.pieces:
                await asyncio.sleep(LOOK_EVERY_S)

    def finish(self, whole: str) -> None:
        """The document is done: write what is left of it."""
        if whole.startswith(self.written):
            self._write(whole[len(self.written) :])
        else:
            say("A page was read again meanwhile; text.txt has the newest text.")

    def _write(self, piece: str) -> None:
        self.written += piece
        sys.stdout.write(piece)
        sys.stdout.flush()
