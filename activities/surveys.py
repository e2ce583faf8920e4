"""Reading surveyed pages back from the store."""

from pydantic import TypeAdapter

from domain.contracts import PageSurvey
from domain.keys import chunk_of, survey_key
from storage.protocol import Store

PAGES = TypeAdapter(list[PageSurvey])


async def load_chunk(store: Store, sha256: str, chunk: int) -> list[PageSurvey] | None:
    """One chunk of a survey, or None when it was never finished."""
    data = await store.get(survey_key(sha256, chunk))
    return None if data is None else PAGES.validate_json(data)


async def page_texts(store: Store, sha256: str, first: int, last: int) -> dict[int, str]:
    """MuPDF's text of a few pages."""
    texts: dict[int, str] = {}
    for chunk in range(chunk_of(first), chunk_of(last) + 1):
        for survey in await load_chunk(store, sha256, chunk) or []:
            if first <= survey.page <= last:
                texts[survey.page] = survey.text
    return texts
