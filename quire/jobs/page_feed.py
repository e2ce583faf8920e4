"""The pages of a job in order, each as soon as all pages before it are done."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from temporalio.client import WorkflowExecutionStatus, WorkflowQueryFailedError
from temporalio.service import RPCError

from quire.app.parts import open_store
from quire.contracts.judgement import Choice, Disagreement
from quire.contracts.page import Attempt, Classification, PageError, TextSource
from quire.contracts.status import PageRange, PageStatus
from quire.contracts.stored import StoredAnswer
from quire.domain.document.merge import page_body
from quire.domain.errors import JobNotFound
from quire.jobs.handles import Handle, describe, handle_of
from quire.jobs.result import LoadedResult, finished_result, load_result
from quire.jobs.session import Jobs
from quire.jobs.status import QUERY_TIMEOUT, stored_texts
from quire.store.surveys import SurveyedTexts
from workflows.document.workflow import DocumentWorkflow

QUERY_EVERY_S = 0.25


@dataclass(frozen=True)
class Page:
    """One page: its text, and where the text came from."""

    number: int
    text: str
    source: TextSource
    classification: Classification
    provider: str | None = None
    model: str | None = None
    attempts: tuple[Attempt, ...] = ()
    # Why no model read the page, although one should have.
    error: PageError | None = None
    # What the run paid for the page: None while the job runs, and where the price is unknown.
    cost_usd: float | None = None
    # 0 to 1: about the share of the text that is right; None where nothing could be compared.
    confidence: float | None = None
    # The confidence is below the setting DOUBT_BELOW.
    doubtful: bool = False
    # What the text layer and the reading do not have in common, and which of them this text is;
    # None while the job runs.
    disagreement: Disagreement | None = None
    choice: Choice | None = None

    @property
    def degraded(self) -> bool:
        """A model should have read this page and none did."""
        return self.source.degraded


def result_pages(loaded: LoadedResult) -> tuple[Page, ...]:
    """The pages of a finished job."""
    texts = loaded.page_texts()
    return tuple(
        Page(
            number=page.page,
            text=texts[page.page],
            source=page.source,
            classification=page.classification,
            provider=page.provider,
            model=page.model,
            attempts=page.attempts,
            error=page.error,
            cost_usd=page.cost_usd,
            confidence=page.confidence,
            doubtful=page.doubtful,
            disagreement=page.disagreement,
            choice=page.choice,
        )
        for page in loaded.report.pages
    )


class PageFeed:
    """Gives every page of a job once: from the running job, and the rest from its result."""

    def __init__(self, jobs: Jobs, job_id: str) -> None:
        self._jobs = jobs
        self._job_id = job_id
        self._store = open_store(jobs.settings)
        self._surveyed = SurveyedTexts(self._store)
        self._next = 1
        self._ended = False

    async def read_next(self) -> tuple[Page, ...]:
        """Wait for further pages; none when the job is done and every page was given."""
        while not self._ended:
            if not await self._is_running():
                self._ended = True
                return await self._rest()
            if pages := await self._ready(handle_of(self._jobs.client, self._job_id)):
                self._next = pages[-1].number + 1
                return pages
            await asyncio.sleep(QUERY_EVERY_S)
        return ()

    async def _is_running(self) -> bool:
        try:
            found = await describe(self._jobs.client, self._job_id)
        except JobNotFound:
            # Its result may have outlived its history.
            return False
        return found.status is WorkflowExecutionStatus.RUNNING

    async def _rest(self) -> tuple[Page, ...]:
        finished = await finished_result(self._jobs, self._job_id)
        loaded = await load_result(self._jobs.settings, finished.result)
        return tuple(page for page in result_pages(loaded) if page.number >= self._next)

    async def _ready(self, handle: Handle) -> tuple[Page, ...]:
        done = await stored_texts(handle, self._next)
        if done is None or not done.pages:
            return ()
        keys = dict(done.pages)
        pages: list[Page] = []
        for status in await _page_statuses(handle, keys):
            key = keys.get(status.page)
            if key is None or status.source is None:
                # It is read again since the first query; the pages after it wait for it.
                break
            page = await self._page(done.sha256, status, status.source, key)
            if page is None:
                break
            pages.append(page)
        return tuple(pages)

    async def _page(
        self, sha256: str, status: PageStatus, source: TextSource, key: str
    ) -> Page | None:
        """The page with its text; None where the store does not show the text yet, or no longer:
        the result will have it."""
        answer = None
        if key:
            stored = await self._store.get(key)
            if stored is None:
                return None
            answer = StoredAnswer.model_validate_json(stored)
        number = status.page
        # A text layer that was kept was read by nobody.
        reader = None if source is TextSource.MUPDF else answer
        surveyed = {} if answer else await self._surveyed.between(sha256, number, number)
        if answer is None and number not in surveyed:
            return None
        return Page(
            number=number,
            text=page_body(answer.text if answer else surveyed[number]),
            source=source,
            classification=status.classification,
            provider=reader.provider if reader else None,
            model=reader.model if reader else None,
            attempts=status.attempts,
            error=status.error,
            confidence=status.confidence,
            doubtful=status.doubtful,
        )


async def _page_statuses(handle: Handle, numbers: Iterable[int]) -> list[PageStatus]:
    """Where these pages stand; none when no worker answers now."""
    wanted = PageRange(first=min(numbers), last=max(numbers))
    try:
        return await handle.query(DocumentWorkflow.pages, wanted, rpc_timeout=QUERY_TIMEOUT)
    except (RPCError, WorkflowQueryFailedError):
        return []
