"""What the result says of pages whose survey is not in the store."""

from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.document.finalize import FinalizeDocument
from quire.contracts.codes import Code
from quire.contracts.page import (
    AttemptNote,
    Classification,
    PageError,
    PageRecord,
    TextSource,
    Usage,
)
from quire.contracts.results import DocumentReport
from quire.contracts.steps import FinalizeRequest
from quire.contracts.stored import PageSurvey, StoredAnswer
from quire.domain.document.attempts import OK
from quire.domain.document.keys import answer_key, finished_key, result_key, survey_key
from quire.store.folder import FolderStore
from quire.store.surveys import PAGES

SHA = "a" * 64
LATE = PageError(error="Too late.", code=Code.GW_TIMEOUT, error_type="retryable")


class OnePlace:
    def __init__(self, store: FolderStore) -> None:
        self.store = store

    def place(self, source: str) -> FolderStore:
        return self.store


def request(*records: PageRecord, surveyed: int) -> FinalizeRequest:
    return FinalizeRequest(
        job_id="job", source="d.pdf", sha256=SHA, reading="r", user_id="", page_count=2,
        surveyed=surveyed, routes=("vendor:model",), records=records, vision_pages=0,
        timeout_occurred=False, started_at="", completed_at="", finished="f",
    )  # fmt: skip


async def finalized(store: FolderStore, asked: FinalizeRequest) -> DocumentReport:
    finalize = FinalizeDocument(store, OnePlace(store))
    await ActivityEnvironment().run(finalize.finalize_document, asked)
    written = await store.get(result_key("job", "result.json"))
    assert written is not None
    return DocumentReport.model_validate_json(written)


@pytest.mark.parametrize("source", [TextSource.MUPDF, TextSource.MUPDF_FALLBACK])
async def test_surveyed_page_is_never_written_empty(tmp_path: Path, source: TextSource) -> None:
    store = FolderStore(tmp_path)
    record = PageRecord(page=1, source=source, error=LATE if source.degraded else None)
    asked = request(record, surveyed=2)
    with pytest.raises(ApplicationError) as refused:
        await finalized(store, asked)
    assert refused.value.type == Code.IO_ERROR
    assert not refused.value.non_retryable, "a worker that knows the survey may take it up"
    assert await store.get(finished_key(SHA, "f")) is None
    survey = PageSurvey(page=1, classification=Classification.TEXT_ONLY, reason="", text="words")
    await store.put(survey_key(SHA, 0), PAGES.dump_json([survey]))
    assert (await finalized(store, asked)).pages[0].chars == len("words")


async def test_text_page_of_a_request_from_before_is_never_written_empty(tmp_path: Path) -> None:
    with pytest.raises(ApplicationError):
        await finalized(
            FolderStore(tmp_path), request(PageRecord(page=1, source=TextSource.MUPDF), surveyed=0)
        )


async def test_pages_that_ended_before_their_survey_say_so(tmp_path: Path) -> None:
    late = PageRecord(page=1, source=TextSource.MUPDF_TIMEOUT_FALLBACK, error=LATE)
    other = PageRecord(page=2, source=TextSource.MUPDF_FALLBACK, error=LATE)
    report = await finalized(FolderStore(tmp_path), request(late, other, surveyed=0))
    assert [page.reason for page in report.pages] == [
        "the deadline passed before this page was surveyed",
        "this page was not surveyed",
    ]


async def test_page_that_a_model_read_needs_no_survey(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    answer = StoredAnswer(
        text="read", provider="vendor", model="model", milliseconds=1, usage=Usage()
    )
    key = answer_key(SHA, 1, "r", "vendor", "model")
    await store.put(key, answer.model_dump_json().encode())
    record = PageRecord(page=1, attempts=(AttemptNote(0, OK, 1),))
    (page,) = (await finalized(store, request(record, surveyed=2))).pages
    assert page.chars == len("read")
    assert page.reason == "the survey of this page is no longer in the store"
