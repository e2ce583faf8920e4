"""Batches of the clients: the blocking one, and the same with `await`."""

from collections.abc import Callable, Coroutine
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from quire.client import batch_calls as calls
from quire.client.batch_calls import BatchReport
from quire.contracts.batch_status import BatchStatus
from quire.jobs.batch.result import SavedBatch

if TYPE_CHECKING:
    from quire.jobs.session import Jobs

T = TypeVar("T")


class _Blocking(Protocol):
    def _run(self, work: "Callable[[Jobs], Coroutine[Any, Any, T]]") -> T: ...


class _Awaiting(Protocol):
    async def _run(self, work: "Callable[[Jobs], Coroutine[Any, Any, T]]") -> T: ...


class Batch:
    """One batch of a client."""

    def __init__(self, client: _Blocking, batch_id: str, user: str = "") -> None:
        self._client = client
        self.batch_id = batch_id
        self.user = user

    def __repr__(self) -> str:
        return f"Batch({self.batch_id!r})"

    def status(self) -> BatchStatus:
        """Its progress, with documents as items."""
        return self._client._run(lambda jobs: calls.status(jobs, self.batch_id))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for its end, at most so many seconds; False when it is not done by then."""
        return self._client._run(lambda jobs: calls.wait(jobs, self.batch_id, timeout))

    def result(self, timeout: float | None = None) -> BatchReport:
        """Its result, once it is done; `TimeoutError` after so many seconds."""
        return self._client._run(lambda jobs: calls.result(jobs, self.batch_id, timeout))

    def report(self) -> BatchReport:
        """What there is of it now: a row for each document that has ended."""
        return self._client._run(lambda jobs: calls.report(jobs, self.batch_id))

    def save(self, folder: str | PathLike[str]) -> SavedBatch:
        """Write a folder a document with its text, and the rows of all."""
        return self._client._run(lambda jobs: calls.save(jobs, self.batch_id, folder))

    def pause(self) -> None:
        """Start nothing more; documents under way are finished."""
        self._client._run(lambda jobs: calls.pause(jobs, self.batch_id, self.user))

    def resume(self, max_cost: float | None = None) -> None:
        """Start documents again, perhaps with another spend limit."""
        self._client._run(lambda jobs: calls.resume(jobs, self.batch_id, self.user, max_cost))

    def cancel(self) -> None:
        """Stop it; what is done is its result."""
        self._client._run(lambda jobs: calls.cancel(jobs, self.batch_id, self.user))

    def retry(self, max_cost: float | None = None) -> Self:
        """Read again what is not good; `result` then waits for it."""
        self._client._run(lambda jobs: calls.retry(jobs, self.batch_id, self.user, max_cost))
        return self


class AsyncBatch:
    """One batch of an asynchronous client; see `Batch`."""

    def __init__(self, client: _Awaiting, batch_id: str, user: str = "") -> None:
        self._client = client
        self.batch_id = batch_id
        self.user = user

    def __repr__(self) -> str:
        return f"AsyncBatch({self.batch_id!r})"

    async def status(self) -> BatchStatus:
        """Its progress, with documents as items."""
        return await self._client._run(lambda jobs: calls.status(jobs, self.batch_id))

    async def wait(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109
        """Wait for its end, at most so many seconds; False when it is not done by then."""
        return await self._client._run(lambda jobs: calls.wait(jobs, self.batch_id, timeout))

    async def result(self, timeout: float | None = None) -> BatchReport:  # noqa: ASYNC109
        """Its result, once it is done; `TimeoutError` after so many seconds."""
        return await self._client._run(lambda jobs: calls.result(jobs, self.batch_id, timeout))

    async def report(self) -> BatchReport:
        """What there is of it now: a row for each document that has ended."""
        return await self._client._run(lambda jobs: calls.report(jobs, self.batch_id))

    async def save(self, folder: str | PathLike[str]) -> SavedBatch:
        """Write a folder a document with its text, and the rows of all."""
        return await self._client._run(lambda jobs: calls.save(jobs, self.batch_id, folder))

    async def pause(self) -> None:
        """Start nothing more; documents under way are finished."""
        await self._client._run(lambda jobs: calls.pause(jobs, self.batch_id, self.user))

    async def resume(self, max_cost: float | None = None) -> None:
        """Start documents again, perhaps with another spend limit."""
        await self._client._run(lambda jobs: calls.resume(jobs, self.batch_id, self.user, max_cost))

    async def cancel(self) -> None:
        """Stop it; what is done is its result."""
        await self._client._run(lambda jobs: calls.cancel(jobs, self.batch_id, self.user))

    async def retry(self, max_cost: float | None = None) -> Self:
        """Read again what is not good; `result` then waits for it."""
        await self._client._run(lambda jobs: calls.retry(jobs, self.batch_id, self.user, max_cost))
        return self
