"""The asynchronous client: the same calls with `await`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from quire.client import calls
from quire.client.engine import Engine, closed
from quire.client.given_settings import client_settings
from quire.client.options import EstimateOptions, ListOptions, Options, Pages
from quire.client.result import Result
from quire.client.source import Source
from quire.contracts.document import DocumentRequest
from quire.contracts.status import DocumentStatus
from quire.jobs.estimate import Estimate
from quire.jobs.list_jobs import JobList
from quire.jobs.page_feed import Page, PageFeed
from quire.jobs.session import Jobs
from quire.settings import Settings

T = TypeVar("T")


class AsyncClient:
    """Turns documents into text without blocking the event loop; see `quire.Client`.

    Server and workers run on a loop in a thread of their own, so a busy loop of the program does
    not hold them up. Cancelling a call keeps the job.
    """

    def __init__(self, settings: Settings | None = None, /, **given: object) -> None:
        self._engine = Engine(client_settings(settings, given))

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        return self._engine.settings

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End workers and connection; jobs that run are kept."""
        # To its end also when this task is cancelled meanwhile: a server would be left behind.
        await asyncio.shield(asyncio.to_thread(self._engine.close))

    async def process(self, source: Source, **options: Unpack[Options]) -> Result:
        """Turn one document into text, and wait for it."""
        return await (await self.submit(source, **options)).result()

    async def submit(self, source: Source, **options: Unpack[Options]) -> "AsyncJob":
        """Start a document's job, and do not wait for it."""
        submission = calls.Submission.of(source, options)
        request = await self._run(submission.start)
        return AsyncJob(self, request.job_id, request.user_id, request)

    async def pages(self, source: Source, **options: Unpack[Options]) -> AsyncIterator[Page]:
        """The pages of a document in order, each as soon as all pages before it are done."""
        async for page in (await self.submit(source, **options)).pages():
            yield page

    def job(self, job_id: str, *, user: str = "") -> "AsyncJob":
        """A job by its id; the server is not asked whether there is one."""
        return AsyncJob(self, job_id, user)

    async def status(self, job_id: str) -> DocumentStatus:
        """The progress of a job."""
        return await self.job(job_id).status()

    async def result(self, job_id: str, timeout: float | None = None) -> Result:  # noqa: ASYNC109
        """The result of a job, once it is done."""
        return await self.job(job_id).result(timeout)

    async def retry(self, job_id: str, pages: Pages | None = None, *, user: str = "") -> "AsyncJob":
        """Read the degraded pages of a job again, or the named ones."""
        return await self.job(job_id, user=user).retry(pages)

    async def cancel(self, job_id: str, *, user: str = "") -> None:
        """Stop a job; what is done is its result."""
        await self.job(job_id, user=user).cancel()

    async def estimate(self, source: Source, **options: Unpack[EstimateOptions]) -> Estimate:
        """What a document would cost; no model is called."""
        return await self._run_alone(lambda: calls.estimate(self.settings, source, options))

    async def list(self, **filters: Unpack[ListOptions]) -> JobList:
        """The documents, newest first."""
        wanted = calls.job_filter(filters)
        return await self._run(lambda jobs: calls.jobs_listed(jobs, wanted))

    async def _run(self, work: Callable[[Jobs], Coroutine[Any, Any, T]]) -> T:
        return await _answer(self._engine.start(work))

    async def _run_alone(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await _answer(self._engine.start_alone(work))

    async def _feed(self, job_id: str) -> PageFeed:
        async def opened(jobs: Jobs) -> PageFeed:
            return PageFeed(jobs, job_id)

        return await self._run(opened)


async def _answer(future: Future[T]) -> T:
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # The program cancelled nothing: the client was closed meanwhile.
        raise closed() from None


class AsyncJob:
    """One job of an asynchronous client."""

    def __init__(
        self,
        client: AsyncClient,
        job_id: str,
        user: str = "",
        request: DocumentRequest | None = None,
    ) -> None:
        self._client = client
        self.job_id = job_id
        self.user = user
        # What was submitted with it; unknown for a job by its id.
        self._request = request

    def __repr__(self) -> str:
        return f"AsyncJob({self.job_id!r})"

    async def status(self) -> DocumentStatus:
        """Its progress."""
        return await self._client._run(lambda jobs: calls.status(jobs, self.job_id))

    async def pages(self) -> AsyncIterator[Page]:
        """Its pages in order, each as soon as all pages before it are done."""
        feed = await self._client._feed(self.job_id)
        while batch := await self._client._run(lambda jobs: calls.pages(jobs, feed, self._request)):
            for page in batch:
                yield page

    async def wait(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109
        """Wait for its end, at most so many seconds; False when it is not done by then."""
        return await self._client._run(lambda jobs: calls.wait(jobs, self.job_id, timeout))

    async def result(self, timeout: float | None = None) -> Result:  # noqa: ASYNC109
        """Its result, once it is done; `TimeoutError` after so many seconds."""
        return await self._client._run(
            lambda jobs: calls.result(jobs, self.job_id, timeout, self._request)
        )

    async def retry(self, pages: Pages | None = None) -> Self:
        """Read its degraded pages again, or the named ones; `result` then waits for them."""
        await self._client._run(lambda jobs: calls.retry(jobs, self.job_id, self.user, pages))
        return self

    async def cancel(self) -> None:
        """Stop it; what is done is its result."""
        await self._client._run(lambda jobs: calls.cancel(jobs, self.job_id, self.user))
