"""The result of a job: waits for it, and loads its files."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from quire.app.parts import open_results, open_store
from quire.contracts.codes import ErrorInfo
from quire.contracts.names import JOB_ID
from quire.contracts.results import DocumentReport, DocumentResult
from quire.domain import errors
from quire.domain.document.keys import result_key
from quire.domain.document.merge import split_pages
from quire.domain.document.origin import shown_name
from quire.jobs.handles import Handle, describe, handle_of
from quire.jobs.heal import result_of_last_run
from quire.jobs.session import Jobs
from quire.ports import Store
from quire.settings import Settings
from quire.store.results import read_report, read_result, with_checksum

# How long a link to a result works: a working day.
LINK_SECONDS = 8 * 3600


@dataclass(frozen=True)
class LoadedResult:
    """`result.json` and `text.txt` of a finished job."""

    report: DocumentReport
    text: bytes

    def page_texts(self) -> dict[int, str]:
        """The text of each page, as `text.txt` holds it."""
        pages = [(page.page, page.chars) for page in self.report.pages]
        try:
            return split_pages(self.text.decode(), pages)
        except ValueError:  # its files are of two versions, or were changed
            raise errors.result_gone(self.report.job_id) from None


@dataclass(frozen=True)
class FinishedJob:
    """A finished job; `history_gone` when only its stored result is left."""

    result: DocumentResult
    history_gone: bool = False


async def wait_for_result(handle: Handle) -> DocumentResult:
    """The job's result once it is done; `DocumentRefused` when there was no document. Where the
    job was stuck and is started again, that of the new run."""
    try:
        return await result_of_last_run(handle)
    except WorkflowFailureError as error:
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.details:
            info = ErrorInfo.model_validate(cause.details[0])
            raise errors.DocumentRefused.from_info(info) from None
        raise errors.job_ended(type(cause).__name__) from None


async def finished_result(jobs: Jobs, job_id: str) -> FinishedJob:
    """The result of a job that is done; results outlive Temporal's history."""
    try:
        description = await describe(jobs.client, job_id)
    except errors.JobNotFound:
        stored = await _stored_result(jobs.settings, job_id)
        if stored is None:
            raise
        return FinishedJob(stored, history_gone=True)
    if description.status is WorkflowExecutionStatus.RUNNING:
        raise errors.still_running(job_id)
    return FinishedJob(await wait_for_result(handle_of(jobs.client, job_id)))


async def _stored_result(settings: Settings, job_id: str) -> DocumentReport | None:
    """The result of a job whose history is gone, if it is in the default place of results; without
    history its origin, beside which it may be, is unknown."""
    if not re.fullmatch(JOB_ID, job_id):
        return None
    key = result_key(job_id, "result.json")
    return await read_report(open_results(settings).found(None, key), job_id)


async def load_result(settings: Settings, result: DocumentResult) -> LoadedResult:
    """The files of a finished job as they were written; a warning says if they were changed."""
    place = await _place_of(settings, result)
    found = await read_result(place, open_store(settings), result.job_id)
    if found is None:
        raise errors.result_gone(result.job_id)
    return LoadedResult(*found)


def save_result(loaded: LoadedResult, folder: Path) -> DocumentReport:
    """Write `text.txt` and `result.json` into a folder; the report there names the text there."""
    target = folder / "text.txt"
    here = {"result_local_path": shown_name(str(target.absolute()))}
    meta = loaded.report.metadata.model_copy(update=here)
    moved = with_checksum(loaded.report.model_copy(update={"metadata": meta}))
    folder.mkdir(parents=True, exist_ok=True)
    _write_both(folder, loaded.text, moved.model_dump_json(indent=2).encode())
    return moved


def _write_both(folder: Path, text: bytes, report: bytes) -> None:
    """Both files or neither: half of a result would pass for one."""
    parts = {folder / name: folder / f".part-{name}" for name in ("text.txt", "result.json")}
    try:
        for part, data in zip(parts.values(), (text, report), strict=True):
            part.write_bytes(data)
        for target, part in parts.items():
            part.replace(target)
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


async def result_link(settings: Settings, result: DocumentResult) -> str | None:
    """A link to the text that needs no credentials; None where the result is in a folder."""
    store = await _place_of(settings, result)
    return await store.link(result_key(result.job_id, "text.txt"), LINK_SECONDS)


async def _place_of(settings: Settings, result: DocumentResult) -> Store:
    """The store that holds a finished job's files."""
    text_name = result_key(result.job_id, "text.txt")
    places = open_results(settings)
    recorded = result.metadata.result_s3_url or result.metadata.result_local_path
    store = places.found(recorded, text_name)
    if not await store.exists(text_name):
        # The path may be of another machine, where a shared folder has another path.
        store = places.found(None, text_name)
    return store
