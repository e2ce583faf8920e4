"""The blocking client."""

from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
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


class Client:
    """Turns documents into text, and waits for them.

    Without a cluster (`temporal_address`) the first call starts the embedded server and workers in
    this process, and they run until the client is closed. Settings are keyword arguments with the
    names of docs/settings.md in lower case; the environment has the others. A client may be used
    by several threads, and within a running event loop, which it then blocks.
    """

    def __init__(self, settings: Settings | None = None, /, **given: object) -> None:
        self._engine = Engine(client_settings(settings, given))

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        return self._engine.settings

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End workers and connection; jobs that run are kept, and continue with the next client
        of the state folder, or in the cluster."""
        self._engine.close()

    def process(self, source: Source, **options: Unpack[Options]) -> Result:
        """Turn one document into text, and wait for it. Ctrl-C ends the wait and keeps the job."""
        return self.submit(source, **options).result()

    def submit(self, source: Source, **options: Unpack[Options]) -> "Job":
        """Start a document's job, and do not wait for it."""
        submission = calls.Submission.of(source, options)
        request = self._run(submission.start)
        return Job(self, request.job_id, request.user_id, request)

    def pages(self, source: Source, **options: Unpack[Options]) -> Iterator[Page]:
        """The pages of a document in order, each as soon as all pages before it are done."""
        return self.submit(source, **options).pages()

    def job(self, job_id: str, *, user: str = "") -> "Job":
        """A job by its id; the server is not asked whether there is one."""
        return Job(self, job_id, user)

    def status(self, job_id: str) -> DocumentStatus:
        """The progress of a job."""
        return self.job(job_id).status()

    def result(self, job_id: str, timeout: float | None = None) -> Result:
        """The result of a job, once it is done."""
        return self.job(job_id).result(timeout)

    def retry(self, job_id: str, pages: Pages | None = None, *, user: str = "") -> "Job":
        """Read the degraded pages of a job again, or the named ones."""
        return self.job(job_id, user=user).retry(pages)

    def cancel(self, job_id: str, *, user: str = "") -> None:
        """Stop a job; what is done is its result."""
        self.job(job_id, user=user).cancel()

    def estimate(self, source: Source, **options: Unpack[EstimateOptions]) -> Estimate:
        """What a document would cost; no model is called."""
        return self._run_alone(lambda: calls.estimate(self.settings, source, options))

    def list(self, **filters: Unpack[ListOptions]) -> JobList:
        """The documents, newest first."""
        wanted = calls.job_filter(filters)
        return self._run(lambda jobs: calls.jobs_listed(jobs, wanted))

    def _run(self, work: Callable[[Jobs], Coroutine[Any, Any, T]]) -> T:
        return self._wait(self._engine.start(work))

    def _run_alone(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return self._wait(self._engine.start_alone(work))

    def _wait(self, future: Future[T]) -> T:
        try:
            return future.result()
        except CancelledError:
            raise closed() from None
        except BaseException:
            # After Ctrl-C nothing waits for the answer; the job is not affected.
            future.cancel()
            raise

    def _feed(self, job_id: str) -> PageFeed:
        async def opened(jobs: Jobs) -> PageFeed:
            return PageFeed(jobs, job_id)

        return self._run(opened)


class Job:
    """One job of a client."""

    def __init__(
        self,
        client: Client,
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
        return f"Job({self.job_id!r})"

    def status(self) -> DocumentStatus:
        """Its progress."""
        return self._client._run(lambda jobs: calls.status(jobs, self.job_id))

    def pages(self) -> Iterator[Page]:
        """Its pages in order, each as soon as all pages before it are done."""
        feed = self._client._feed(self.job_id)
        while batch := self._client._run(lambda jobs: calls.pages(jobs, feed, self._request)):
            yield from batch

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for its end, at most so many seconds; False when it is not done by then."""
        return self._client._run(lambda jobs: calls.wait(jobs, self.job_id, timeout))

    def result(self, timeout: float | None = None) -> Result:
        """Its result, once it is done; `TimeoutError` after so many seconds."""
        return self._client._run(
            lambda jobs: calls.result(jobs, self.job_id, timeout, self._request)
        )

    def retry(self, pages: Pages | None = None) -> Self:
        """Read its degraded pages again, or the named ones; `result` then waits for them."""
        self._client._run(lambda jobs: calls.retry(jobs, self.job_id, self.user, pages))
        return self

    def cancel(self) -> None:
        """Stop it; what is done is its result."""
        self._client._run(lambda jobs: calls.cancel(jobs, self.job_id, self.user))
