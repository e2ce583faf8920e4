"""Errors of a batch, and of documents that a batch did not start."""

from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.tree import DocumentRefused, JobError

SECTION = "batch"


class BatchNotFound(JobError):
    """There is no such batch, or it was removed."""


class BatchConflict(JobError):
    """The batch's id belongs to another batch, or the batch is not in the state for this."""


_kind = partial(Kind, SECTION)
_NOT_FOUND = _kind(
    BatchNotFound,
    Code.EXPIRED,
    "NO_SUCH_BATCH",
    "there is no such batch, or its history and its files are gone",
    "check the id with `quire batch list`",
)
_CONFLICT = _kind(
    BatchConflict,
    Code.FORBIDDEN,
    "BATCH_EXISTS",
    "there is a batch with this id",
    "another `--batch-id`; `quire batch watch` follows the one that there is",
)
_NOT_OWNER = _kind(
    JobError,
    Code.FORBIDDEN,
    "NOT_OWNER_OF_BATCH",
    "the batch belongs to someone else",
    "give the owner with `--user`",
)
_NOT_RUNNING = _kind(
    BatchConflict,
    Code.NOT_READY,
    "BATCH_NOT_RUNNING",
    "the batch is done, so there is nothing to pause, resume or cancel",
    "`quire batch result`; `quire batch retry` redoes what is not good",
)
_RUNNING = _kind(
    BatchConflict,
    Code.NOT_READY,
    "BATCH_RUNNING",
    "the batch is not done yet",
    "`quire batch watch`, or `quire batch result --partial`",
    "retryable",
)
_NOTHING_TO_RETRY = _kind(
    BatchConflict,
    Code.NOT_READY,
    "NOTHING_TO_RETRY_IN_BATCH",
    "every document of the batch is good, or has not ended yet",
    "`quire batch result` shows them",
)
_BUDGET = _kind(
    DocumentRefused,
    Code.GW_4XX,
    "BUDGET",
    "the batch's spend limit was reached before this document began",
    "`quire batch retry --max-cost` with a higher limit reads what is left",
)
_CALLED_OFF = _kind(
    DocumentRefused,
    Code.NOT_READY,
    "BATCH_CANCELLED",
    "the batch was cancelled before this document began",
    "`quire batch retry` reads what is left",
)
_ROW_LOST = _kind(
    DocumentRefused,
    Code.IO_ERROR,
    "ROW_LOST",
    "the row of this document is no longer in the store, or was changed there",
    "`quire batch retry` reads it again; what was paid for is in the store",
)
_SOURCE_LOST = _kind(
    DocumentRefused,
    Code.IO_ERROR,
    "SOURCES_LOST",
    "the batch's list of sources is no longer in the store, or was changed there",
    "start the batch again: what was paid for is in the store",
)
_TAKEN = _kind(
    DocumentRefused,
    Code.FORBIDDEN,
    "JOB_ID_TAKEN",
    "the job id that a manifest gives is bound to another request, or named twice",
    "another `job_id` in the manifest",
)
_FOLDER = _kind(
    DocumentRefused,
    Code.FORBIDDEN,
    "FOLDER_UNREADABLE",
    "a folder, or an object in a bucket, may not be listed",
    "correct its permissions, then start a batch on it",
)
_EMPTY = _kind(
    DocumentRefused,
    Code.NOT_PDF,
    "NOTHING_FOUND",
    "a folder, a glob or a prefix has no document",
    "check its spelling",
)
_ROW = _kind(
    DocumentRefused,
    Code.GW_4XX,
    "MANIFEST_ROW",
    "a row of a manifest is not understood",
    "docs/batches.md has the columns",
)
_PASSWORD = _kind(
    DocumentRefused,
    Code.IO_ERROR,
    "PASSWORD_FILE",
    "the password file that a manifest names cannot be read",
    "check its path: it is relative to the manifest",
)


def batch_not_found(batch_id: str) -> BatchNotFound:
    """There is no such batch."""
    return _NOT_FOUND(
        f"There is no batch {batch_id!r}, or it is gone.", "Check the id with `quire batch list`."
    )


def batch_exists(batch_id: str) -> BatchConflict:
    """The id is another batch's."""
    return _CONFLICT(
        f"There is a batch {batch_id!r} already.",
        f"Use another --batch-id, or follow it with `quire batch watch {batch_id}`.",
    )


def not_owner_of_batch(batch_id: str) -> JobError:
    """The caller is not the batch's owner."""
    return _NOT_OWNER(
        f"Batch {batch_id!r} belongs to someone else.",
        "Only its owner may do this: give the owner's name with --user.",
    )


def batch_not_running(batch_id: str) -> BatchConflict:
    """The batch is done."""
    return _NOT_RUNNING(
        f"Batch {batch_id!r} is not running.", f"See it with `quire batch result {batch_id}`."
    )


def batch_running(batch_id: str) -> BatchConflict:
    """The batch has no final result yet."""
    return _RUNNING(
        f"Batch {batch_id!r} is still running.",
        f"Follow it with `quire batch watch {batch_id}`, or add --partial.",
    )


def nothing_to_retry_in_batch(batch_id: str) -> BatchConflict:
    """Every document is good or not done."""
    return _NOTHING_TO_RETRY(
        f"Batch {batch_id!r} has no failed or degraded document.",
        f"See it with `quire batch result {batch_id}`.",
    )


def budget_reached(words: str) -> DocumentRefused:
    """The spend limit keeps the document from being started."""
    return _BUDGET(
        f"Not started: {words}.", "`quire batch retry BATCH --max-cost USD` reads what is left."
    )


def batch_called_off() -> DocumentRefused:
    """The batch was cancelled first."""
    return _CALLED_OFF(
        "Not started: the batch was cancelled.", "`quire batch retry BATCH` reads what is left."
    )


def row_lost() -> DocumentRefused:
    """The store has no row of a document that has ended."""
    return _ROW_LOST(
        "Its row is no longer in the store.", "`quire batch retry BATCH` reads it again."
    )


def sources_lost() -> DocumentRefused:
    """The store has not the list any more."""
    return _SOURCE_LOST(
        "The list of sources is no longer in the store.",
        "Start the batch again: what was paid for is in the store.",
    )


def job_id_taken(job_id: str, different: str) -> DocumentRefused:
    """Another request has the id."""
    return _TAKEN(
        f"The job id {job_id!r} is taken: {different}.", "Give another job_id in the manifest."
    )


def folder_unreadable(shown: str) -> DocumentRefused:
    """A place that may not be listed."""
    return _FOLDER(
        f"{shown!r} cannot be read.", "Correct its permissions, then start a batch on it."
    )


def nothing_found(shown: str) -> DocumentRefused:
    """A place without documents."""
    return _EMPTY(f"There is no document in {shown!r}.", "Check its spelling.")


def bad_manifest_row(line: int, problem: str) -> DocumentRefused:
    """A row of a manifest that is no request."""
    return _ROW(f"Line {line} of the manifest: {problem}.", "docs/batches.md has the columns.")


def password_file_unreadable(name: str) -> DocumentRefused:
    """The file with a document's password."""
    return _PASSWORD(
        f"The password file {name!r} cannot be read.", "It is looked for beside the manifest."
    )
