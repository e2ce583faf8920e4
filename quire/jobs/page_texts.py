"""The text of a job's pages in order, each as soon as all pages before it are done."""

from dataclasses import dataclass

from quire.app.parts import open_store
from quire.contracts.status import PageTexts
from quire.contracts.stored import StoredAnswer
from quire.domain.document.merge import merge_pages
from quire.jobs.handles import Handle
from quire.jobs.status import stored_texts
from quire.settings import Settings
from quire.store.surveys import SurveyedTexts


@dataclass(frozen=True)
class NextTexts:
    """The answer to one query: pieces of `text.txt`, or that no worker answered."""

    pieces: tuple[str, ...] = ()
    answered: bool = True


class PageTextReader:
    """Reads `text.txt` from its beginning while the job runs; the rest can come from the result."""

    def __init__(self, settings: Settings) -> None:
        self._store = open_store(settings)
        self._surveyed = SurveyedTexts(self._store)
        self._next = 1
        self._given = False

    async def read_next(self, handle: Handle) -> NextTexts:
        """The text of the pages that have become ready since the last call."""
        done = await stored_texts(handle, self._next)
        if done is None:
            return NextTexts(answered=False)
        pieces: list[str] = []
        for page, key in done.pages:
            text = await self._text(done, page, key)
            if text is None:
                break
            added = list(merge_pages([(page, text)], first=not self._given))
            self._given = self._given or any(added)
            pieces += added
            self._next = page + 1
        return NextTexts(tuple(pieces))

    async def _text(self, done: PageTexts, page: int, key: str) -> str | None:
        if not key:
            # A survey that is gone is made again for the result, at the latest.
            return (await self._surveyed.between(done.sha256, page, page)).get(page)
        stored = await self._store.get(key)
        return None if stored is None else StoredAnswer.model_validate_json(stored).text
