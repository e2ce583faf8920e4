"""Reads surveys of pages from the store."""

from collections import OrderedDict

from pydantic import TypeAdapter

from quire.contracts.stored import PageSurvey
from quire.domain.document.keys import chunk_of, survey_key
from quire.ports import Store

PAGES = TypeAdapter(list[PageSurvey])
KEPT_BYTES = 16 * 1024**2


async def load_chunk(store: Store, sha256: str, chunk: int) -> list[PageSurvey] | None:
    """One chunk of a survey, or None when it is not stored."""
    data = await store.get(survey_key(sha256, chunk))
    return None if data is None else PAGES.validate_json(data)


class SurveyedTexts:
    """MuPDF's text of pages. The last few chunks are kept in memory, as neighbouring pages need the
    same chunk within moments; chunks of a survey never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, tuple[int, dict[int, PageSurvey]]] = OrderedDict()
        self._bytes = 0

    async def between(self, sha256: str, first: int, last: int) -> dict[int, str]:
        """The texts of the pages from `first` to `last`, by page."""
        found = await self.surveys(sha256, first, last)
        return {page: survey.text for page, survey in found.items()}

    async def surveys(self, sha256: str, first: int, last: int) -> dict[int, PageSurvey]:
        """All that is known of the pages from `first` to `last`, by page."""
        found: dict[int, PageSurvey] = {}
        for chunk in range(chunk_of(first), chunk_of(last) + 1):
            for page, survey in (await self._chunk(survey_key(sha256, chunk))).items():
                if first <= page <= last:
                    found[page] = survey
        return found

    async def _chunk(self, key: str) -> dict[int, PageSurvey]:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        data = await self._store.get(key)
        if data is None:
            return {}
        surveys = {survey.page: survey for survey in PAGES.validate_json(data)}
        if key not in self._kept:
            self._kept[key] = (len(data), surveys)
            self._bytes += len(data)
        while self._bytes > KEPT_BYTES:
            self._bytes -= self._kept.popitem(last=False)[1][0]
        return surveys
