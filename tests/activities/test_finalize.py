"""What the result says of pages whose survey or answer is not in the store."""

import hashlib
from pathlib import Path

import pytest
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
from quire.domain.document.keys import answer_key, finished_key, source_key, survey_key
from quire.pdf.reader import Documents
from quire.ports import Store
from quire.store.folder import FolderStore
from quire.store.results import read_report
from quire.store.surveys import PAGES
from quire.store.verified import VerifiedStore

SHA = "a" * 64
LATE = PageError(error="Too late.", code=Code.GW_TIMEOUT, error_type="retryable")


ANSWER = StoredAnswer(
    text="read", provider="vendor", model="model", milliseconds=1, usage=Usage(), cost_usd=0.1
)


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


class Surveyor(Documents):
    """Surveys without MuPDF."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    async def survey(
        self,
        path: Path,
        first: int,
        last: int,
        password: str | None = None,
        *,
        patient: bool = True,
    ) -> list[PageSurvey]:
        self.asked.append((first, last))
        return [survey(page, "surveyed again") for page in range(first, last + 1)]


def survey(page: int, text: str) -> PageSurvey:
    return PageSurvey(page=page, classification=Classification.TEXT_ONLY, reason="", text=text)


def unsealed(token: str, job_id: str) -> str:
    return token


async def finalized(
    store: Store, asked: FinalizeRequest, surveyor: Surveyor | None = None
) -> DocumentReport:
    place = OnePlace(FolderStore(Path(str(store.describe("results")[0]))))
    finalize = FinalizeDocument(store, place, surveyor or Surveyor(), unsealed)
    await ActivityEnvironment().run(finalize.finalize_document, asked)
    report = await read_report(place.store, "job")
    assert report is not None
    return report


def verified(folder: Path) -> VerifiedStore:
    return VerifiedStore(FolderStore(folder), lambda damage: None)


@pytest.mark.parametrize("source", [TextSource.MUPDF, TextSource.MUPDF_FALLBACK])
@pytest.mark.parametrize("stored", [None, b"", b'[{"page": 1, "classif'])
async def test_survey_that_is_gone_or_damaged_is_made_again(
    tmp_path: Path, source: TextSource, stored: bytes | None
) -> None:
    store, surveyor = verified(tmp_path), Surveyor()
    sha256 = hashlib.sha256(b"the document").hexdigest()
    await store.put(source_key(sha256), b"the document")
    if stored is not None:
        await FolderStore(tmp_path).put(survey_key(sha256, 0), stored)
    record = PageRecord(page=1, source=source, error=LATE if source.degraded else None)
    asked = request(record, surveyed=2).model_copy(update={"sha256": sha256})
    (page,) = (report := await finalized(store, asked, surveyor)).pages
    assert (page.source, page.chars) == (source, len("surveyed again"))
    assert surveyor.asked == [(1, 2)]
    assert bool(report.metadata.warnings) == (stored is not None)
    assert (await finalized(store, asked, surveyor)).pages[0].chars == page.chars
    assert surveyor.asked == [(1, 2)], "it is in the store again"


@pytest.mark.parametrize("source", [TextSource.MUPDF, TextSource.MUPDF_FALLBACK])
async def test_surveyed_page_never_passes_as_empty(tmp_path: Path, source: TextSource) -> None:
    """Survey and document are gone: nothing can be made again."""
    store = verified(tmp_path)
    record = PageRecord(page=1, source=source, error=LATE if source.degraded else None)
    (page,) = (await finalized(store, request(record, surveyed=2))).pages
    assert page.source is TextSource.MUPDF_FALLBACK
    assert page.error is not None
    assert await store.get(finished_key(SHA, "f")) is None, "no later job takes it for the truth"


async def test_text_page_of_a_request_from_before_never_passes_as_empty(tmp_path: Path) -> None:
    record = PageRecord(page=1, source=TextSource.MUPDF)
    (page,) = (await finalized(verified(tmp_path), request(record, surveyed=0))).pages
    assert page.source is TextSource.MUPDF_FALLBACK


@pytest.mark.parametrize("stored", [None, b"", b'{"text": "edited"}'])
async def test_answer_that_is_gone_or_damaged_degrades_its_page(
    tmp_path: Path, stored: bytes | None
) -> None:
    store = verified(tmp_path)
    await store.put(survey_key(SHA, 0), PAGES.dump_json([survey(1, "MuPDF"), survey(2, "MuPDF")]))
    key = answer_key(SHA, 1, "r", "vendor", "model")
    if stored is not None:
        await FolderStore(tmp_path).put(key, stored)
    await store.put(answer_key(SHA, 2, "r", "vendor", "model"), ANSWER.model_dump_json().encode())
    records = [PageRecord(page=page, attempts=(AttemptNote(0, OK, 1),)) for page in (1, 2)]
    report = await finalized(store, request(*records, surveyed=2))
    first, second = report.pages
    assert (first.source, first.chars, first.answer) == (TextSource.MUPDF_FALLBACK, 5, None)
    assert first.error is not None
    assert (first.error.code, first.error.error_type) == (Code.IO_ERROR, "retryable")
    assert first.cost_usd is None, "what was paid for it is not known"
    assert (second.source, second.error) == (TextSource.AI, None)
    assert (report.metadata.pages_done, report.metadata.pages_failed) == (1, 1)
    assert await store.get(finished_key(SHA, "f")) is None
    assert bool(report.metadata.warnings) == (stored is not None)


async def test_pages_that_ended_before_their_survey_say_so(tmp_path: Path) -> None:
    late = PageRecord(page=1, source=TextSource.MUPDF_TIMEOUT_FALLBACK, error=LATE)
    other = PageRecord(page=2, source=TextSource.MUPDF_FALLBACK, error=LATE)
    report = await finalized(verified(tmp_path), request(late, other, surveyed=0))
    assert [page.reason for page in report.pages] == [
        "the deadline passed before this page was surveyed",
        "this page was not surveyed",
    ]


async def test_page_that_a_model_read_needs_no_survey(tmp_path: Path) -> None:
    store = verified(tmp_path)
    await store.put(answer_key(SHA, 1, "r", "vendor", "model"), ANSWER.model_dump_json().encode())
    record = PageRecord(page=1, attempts=(AttemptNote(0, OK, 1),))
    (page,) = (await finalized(store, request(record, surveyed=2))).pages
    assert page.chars == len("read")
    assert page.reason == "the survey of this page is no longer in the store"
