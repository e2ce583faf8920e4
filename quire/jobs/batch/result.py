"""The result of a batch: its summary and its rows, also while it runs; texts into a folder."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from quire.app.parts import open_results, open_store
from quire.contracts.batch import BatchResult, DocumentRow
from quire.contracts.batch_steps import WriteRequest
from quire.domain import errors
from quire.domain.batch.folders import folder_names
from quire.domain.batch.rows import json_lines
from quire.domain.batch.summary import summarize
from quire.domain.errors import QuireError
from quire.jobs.batch.handles import batch_request, describe_batch, is_open
from quire.jobs.result import LoadedResult, save_result
from quire.jobs.session import Jobs
from quire.settings import Settings
from quire.store.batch_files import LINES, SUMMARY, read_batch, read_rows
from quire.store.batches import BatchStore
from quire.store.results import read_result

AT_ONCE = 8


@dataclass(frozen=True)
class LoadedBatch:
    """The summary of a batch and a row a document that has ended."""

    result: BatchResult
    rows: tuple[DocumentRow, ...]


async def load_batch(jobs: Jobs, batch_id: str, *, partial: bool = False) -> LoadedBatch:
    """The result of a batch that is done; with `partial`, what there is of one that runs."""
    try:
        running = await is_open(jobs.client, batch_id)
    except errors.BatchNotFound:
        # Files outlive history.
        running = False
    if not running:
        return await load_files(jobs.settings, batch_id)
    if not partial:
        raise errors.batch_running(batch_id)
    rows = await BatchStore(open_store(jobs.settings)).rows(batch_id)
    started = (await describe_batch(jobs.client, batch_id)).start_time
    now = datetime.now(UTC).isoformat()
    asked = WriteRequest(
        request=await batch_request(jobs.client, batch_id),
        started_at=started.isoformat(),
        completed_at=now,
    )
    return LoadedBatch(summarize(asked, rows, completed=False), tuple(rows))


async def load_files(settings: Settings, batch_id: str) -> LoadedBatch:
    """The files of a finished batch."""
    place = open_results(settings).place("")
    result, rows = await read_batch(place, batch_id), await read_rows(place, batch_id)
    if result is None or rows is None:
        raise errors.batch_not_found(batch_id)
    return LoadedBatch(result, tuple(rows))


@dataclass(frozen=True)
class SavedBatch:
    """Where the texts of a batch were written, and which could not be."""

    folder: Path
    saved: int
    failed: tuple[str, ...]


async def save_batch(settings: Settings, loaded: LoadedBatch, folder: Path) -> SavedBatch:
    """Write a folder a document, and the rows and the summary beside them."""
    names = folder_names([(row.number, row.source) for row in loaded.rows])
    room = asyncio.Semaphore(AT_ONCE)
    with_text = [row for row in loaded.rows if row.text_path is not None]

    async def save(row: DocumentRow) -> str:
        async with room:
            try:
                await _save(settings, row, folder / names[row.number])
            except QuireError as error:
                return f"{row.source}: {error.message}"
        return ""

    problems = await asyncio.gather(*(save(row) for row in with_text))
    await asyncio.to_thread(_write_lists, loaded, folder)
    failed = tuple(problem for problem in problems if problem)
    return SavedBatch(folder, len(with_text) - len(failed), failed)


async def _save(settings: Settings, row: DocumentRow, folder: Path) -> None:
    place = open_results(settings).found(row.text_path, f"{row.job_id}/text.txt")
    found = await read_result(place, open_store(settings), row.job_id)
    if found is None:
        raise errors.result_gone(row.job_id)
    await asyncio.to_thread(save_result, LoadedResult(*found), folder)


def _write_lists(loaded: LoadedBatch, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / LINES, json_lines(loaded.rows).encode())
    _replace(folder / SUMMARY, loaded.result.model_dump_json(indent=2).encode())


def _replace(path: Path, data: bytes) -> None:
    part = path.with_name(f".part-{path.name}")
    part.write_bytes(data)
    part.replace(path)
