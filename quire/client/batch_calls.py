"""What both clients can do with batches, each call once."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict

from pydantic import ValidationError

from quire.client.options import Duration, refuse_unknown, seconds_of
from quire.contracts.batch import BatchOptions, BatchRequest, BatchResult, DocumentRow
from quire.contracts.batch_status import BatchStatus
from quire.domain import errors
from quire.domain.errors import UsageError
from quire.jobs.access import Caller
from quire.jobs.batch.control import cancel_batch, pause_batch, resume_batch, retry_batch
from quire.jobs.batch.handles import batch_handle, describe_batch
from quire.jobs.batch.prepare import find_sources, prepare_sources
from quire.jobs.batch.result import SavedBatch, load_batch, save_batch
from quire.jobs.batch.status import batch_status, wait_for_batch
from quire.jobs.batch.submit import check_engines, submit_batch
from quire.jobs.job_id import check_batch_id, new_job_id
from quire.jobs.session import Jobs

BatchSources = str | PathLike[str] | Iterable[str | PathLike[str]]


class BatchCallOptions(TypedDict, total=False):
    """Options of a batch; all of them may be left out."""

    batch_id: str | None
    # A name for lists.
    name: str
    # The owner of the batch and of its documents.
    user: str
    # So many documents at once, at most; 10 if it is left out.
    window: int
    # Dollars: once they are spent, nothing more is started.
    max_cost: float | None
    mode: Literal["adaptive", "fail_fast", "hold"]
    # Time for each document, from its start: "2h", seconds, or a timedelta.
    deadline: Duration | None
    engine: str | None
    tier: Literal["primary", "secondary", "fast"]
    # Instructions, added to the rules of transcription.
    prompt: str
    text_only: bool
    # Read documents again although their results are stored.
    force: bool
    # Follow symbolic links in folders.
    follow_links: bool


@dataclass(frozen=True)
class BatchReport:
    """A batch that is done, or what there is of one: its sums, and a row a document."""

    summary: BatchResult
    rows: tuple[DocumentRow, ...]


@dataclass(frozen=True)
class BatchSubmission:
    """A batch on its way."""

    sources: list[str]
    request: BatchRequest
    follow_links: bool = False

    @classmethod
    def of(cls, sources: BatchSources, options: BatchCallOptions) -> "BatchSubmission":
        """Check what can be checked before anything is opened."""
        refuse_unknown(options, BatchCallOptions)
        batch_id = options.get("batch_id") or f"batch-{new_job_id()}"
        check_batch_id(batch_id, "batch_id")
        several = [sources] if isinstance(sources, str | PathLike) else list(sources)
        if not several:
            raise UsageError("There is no document in an empty list.", "Name files or folders.")
        try:
            request = BatchRequest(
                batch_id=batch_id,
                documents=1,
                name=options.get("name", ""),
                user_id=options.get("user", ""),
                window=options.get("window", 10),
                max_cost_usd=options.get("max_cost"),
                options=BatchOptions(
                    engine=options.get("engine"),
                    tier=options.get("tier", "primary"),
                    instructions=options.get("prompt", ""),
                    text_only=options.get("text_only", False),
                    deadline_s=seconds_of("deadline", options.get("deadline")),
                    mode=options.get("mode", "hold"),
                    force=options.get("force", False),
                ),
            )
        except ValidationError as error:
            first = error.errors()[0]
            raise UsageError(f"{first['loc'][-1]}: {first['msg']}.") from None
        return cls([str(one) for one in several], request, options.get("follow_links", False))

    async def start(self, jobs: Jobs) -> BatchRequest:
        """Find and store the documents, and start the batch."""
        request = self.request
        found, _ = await find_sources(jobs.settings, self.sources, follow_links=self.follow_links)
        check_engines(jobs.settings, [request.options.engine, *(one.engine for one in found)])
        prepared = await prepare_sources(jobs.settings, request.batch_id, found)
        request = request.model_copy(update={"documents": len(prepared.items)})
        await submit_batch(jobs, request, prepared.items)
        return request


async def status(jobs: Jobs, batch_id: str) -> BatchStatus:
    """The progress of a batch."""
    return await batch_status(jobs, batch_id)


async def wait(jobs: Jobs, batch_id: str, seconds: float | None) -> bool:
    """Wait for the end of a batch, at most so many seconds; False when it is not done by then."""
    await describe_batch(jobs.client, batch_id)
    ending = asyncio.ensure_future(wait_for_batch(batch_handle(jobs.client, batch_id)))
    try:
        await asyncio.wait((ending,), timeout=seconds)
        if ending.done():
            ending.result()
        return ending.done()
    finally:
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)


async def result(jobs: Jobs, batch_id: str, seconds: float | None) -> BatchReport:
    """The result of a batch, once it is done; `TimeoutError` when that takes too long."""
    try:
        ended = await wait(jobs, batch_id, seconds)
    except errors.BatchNotFound:
        # Its files outlive history.
        ended = True
    if not ended:
        raise TimeoutError(f"batch {batch_id!r} is not done after {seconds} s; it goes on")
    return await report(jobs, batch_id, partial=False)


async def report(jobs: Jobs, batch_id: str, *, partial: bool = True) -> BatchReport:
    """What there is of a batch, also while it runs."""
    loaded = await load_batch(jobs, batch_id, partial=partial)
    return BatchReport(loaded.result, loaded.rows)


async def save(jobs: Jobs, batch_id: str, folder: str | PathLike[str]) -> SavedBatch:
    """Write a folder a document, and the rows of all."""
    return await save_batch(
        jobs.settings, await load_batch(jobs, batch_id, partial=True), Path(folder)
    )


async def pause(jobs: Jobs, batch_id: str, user: str) -> None:
    """Start nothing more."""
    await pause_batch(jobs, batch_id, Caller(user))


async def resume(jobs: Jobs, batch_id: str, user: str, max_cost: float | None) -> None:
    """Start documents again."""
    await resume_batch(jobs, batch_id, Caller(user), max_cost)


async def cancel(jobs: Jobs, batch_id: str, user: str) -> None:
    """Stop, and keep what is done."""
    await cancel_batch(jobs, batch_id, Caller(user))


async def retry(jobs: Jobs, batch_id: str, user: str, max_cost: float | None) -> None:
    """Read again what is not good."""
    await retry_batch(jobs, batch_id, Caller(user), max_cost)
