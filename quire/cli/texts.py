"""`watch --text`: pages in their order, each as soon as all before it are done."""

import asyncio
import sys

from quire.cli.exits import say
from quire.cli.jobs import Handle, texts_of
from quire.cli.silence import Silence
from quire.contracts.status import PageTexts
from quire.contracts.stored import StoredAnswer
from quire.domain.document.merge import merge_pages
from quire.ports import Store
from quire.store.surveys import SurveyedTexts

LOOK_EVERY_S = 0.4


class TextPrinter:
    """What it has written is always a beginning of `text.txt`, so the rest can come from there."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._surveyed = SurveyedTexts(store)
        self._next = 1
        self.written = ""

    async def run(self, handle: Handle) -> None:
        silence = Silence()
        while True:
            done = await texts_of(handle, self._next)
            if done is None:
                silence.tell()
            else:
                silence.heard()
            if done is None or not await self._write_pages(done):
                await asyncio.sleep(LOOK_EVERY_S)

    async def _write_pages(self, done: PageTexts) -> bool:
        for page, key in done.pages:
            text = await self._text(done.sha256, page, key)
            if text is None:
                return False
            for piece in merge_pages([(page, text)], first=not self.written):
                self._write(piece)
            self._next = page + 1
        return bool(done.pages)

    async def _text(self, sha256: str, page: int, key: str) -> str | None:
        if not key:
            return (await self._surveyed.between(sha256, page, page)).get(page, "")
        stored = await self._store.get(key)
        return None if stored is None else StoredAnswer.model_validate_json(stored).text

    def finish(self, whole: str) -> None:
        """The document is done: write what is left of it."""
        if whole.startswith(self.written):
            self._write(whole[len(self.written) :])
        else:
            say("A page was read anew meanwhile; text.txt has the newest text.")

    def _write(self, piece: str) -> None:
        self.written += piece
        sys.stdout.write(piece)
        sys.stdout.flush()
