"""The result of a job: waits for it, and loads its files."""

import re
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from quire.app import open_results
from quire.contracts.codes import ErrorInfo
from quire.contracts.names import JOB_ID
from quire.contracts.results import DocumentReport, DocumentResult
from quire.domain import errors
from quire.domain.document.keys import result_key
from quire.domain.document.merge import split_pages
from quire.jobs.handles import Handle, describe, handle_of
from quire.jobs.session import Jobs
from quire.ports import Store
from quire.settings import Settings

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
    """The job's result once it is done; `DocumentRefused` when there was no document."""
    try:
        return await handle.result()
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
    stored = await open_results(settings).found(None, key).get(key)
    return None if stored is None else DocumentReport.model_validate_json(stored)


async def load_result(settings: Settings, result: DocumentResult) -> LoadedResult:
    """The files of a finished job."""
    job_id, store = result.job_id, await _place_of(settings, result)
    report_json = await store.get(result_key(job_id, "result.json"))
    text = await store.get(result_key(job_id, "text.txt"))
    if report_json is None or text is None:
        raise errors.result_gone(job_id)
    return LoadedResult(DocumentReport.model_validate_json(report_json), text)


def save_result(loaded: LoadedResult, folder: Path) -> DocumentReport:
    """Write `text.txt` and `result.json` into a folder; the report there names the text there."""
    target = folder / "text.txt"
    here = {"result_local_path": str(target.absolute())}
    meta = loaded.report.metadata.model_copy(update=here)
    moved = loaded.report.model_copy(update={"metadata": meta})
    folder.mkdir(parents=True, exist_ok=True)
    target.write_bytes(loaded.text)
    (folder / "result.json").write_text(moved.model_dump_json(indent=2), encoding="utf-8")
    return moved


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
