"""survey_document: exactly the pages that were asked for, and nothing goes on after a failure."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.document.survey import SurveyDocument
from quire.contracts.codes import Code
from quire.contracts.page import Classification
from quire.contracts.steps import SurveyRequest
from quire.contracts.stored import PageSurvey
from quire.domain.document.keys import SURVEY_CHUNK, source_key
from quire.store.folder import FolderStore

SHA = "a" * 64
CLASSES = "TSHB" * 20
PAGES = len(CLASSES)


class Untraced:
    def step(self, name: str, page: int) -> Any:
        return nullcontext()

    just_took = vendor_call = step


class Reader:
    """Knows every page; the survey of one of them may fail."""

    def __init__(self, fails_at: int | None = None) -> None:
        self._fails_at = fails_at
        self.ended = 0
        self.patience: dict[int, bool] = {}

    async def survey(
        self, path: Path, first: int, last: int, password: str | None = None, *, patient: bool
    ) -> list[PageSurvey]:
        self.patience[first] = patient
        if self._fails_at is not None:
            if not first <= self._fails_at <= last:
                await asyncio.sleep(1)
            else:
                await asyncio.sleep(0.01)
                raise OSError(28, "No space left on device")
        self.ended += 1
        return [
            PageSurvey(page=n, classification=Classification.from_letter(CLASSES[n - 1]), reason="")
            for n in range(first, last + 1)
        ]


async def surveyed(tmp_path: Path, reader: Reader, first: int, last: int | None) -> str:
    store = FolderStore(tmp_path)
    await store.put(source_key(SHA), b"%PDF")
    survey = SurveyDocument(store, reader, lambda token, job: "", Untraced(), parallel=4)  # type: ignore[arg-type]
    asked = SurveyRequest(job_id="j", sha256=SHA, page_count=PAGES, first=first, last=last)
    return (await ActivityEnvironment().run(survey.survey_document, asked)).classes


@pytest.mark.parametrize(
    ("first", "last"), [(1, None), (1, 25), (26, None), (1, 30), (30, 60), (27, 27), (80, 80)]
)
async def test_letters_are_those_of_the_pages_asked_for(
    tmp_path: Path, first: int, last: int | None
) -> None:
    for _ in ("from the PDF", "from the store"):
        assert await surveyed(tmp_path, Reader(), first, last) == CLASSES[first - 1 : last]


@pytest.mark.parametrize("last", [SURVEY_CHUNK, None])
async def test_failure_is_told_as_itself_and_ends_its_siblings(
    tmp_path: Path, last: int | None
) -> None:
    reader = Reader(fails_at=1)
    with pytest.raises(ApplicationError) as refused:
        await surveyed(tmp_path, reader, 1, last)
    assert refused.value.type == Code.IO_ERROR
    await asyncio.sleep(1.2)
    assert reader.ended == 0, "nobody waits for them"


async def test_only_the_first_pages_are_in_a_hurry(tmp_path: Path) -> None:
    reader = Reader()
    await surveyed(tmp_path, reader, 1, None)
    assert {first > SURVEY_CHUNK for first, patient in reader.patience.items() if patient} == {True}
    assert reader.patience[1] is False
