"""Errors of a disk that takes no more: full, a quota used up, or mounted read-only."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.tree import QuireError

SECTION = "command"
_WORDS = {
    errno.ENOSPC: "is full",
    errno.EDQUOT: "has no quota left for this user",
    errno.EROFS: "is mounted read-only",
}
# What a folder is for, by the setting or option that names it.
_PLACES = {
    "STORE_URL": "the store",
    "RESULTS_URL": "the results",
    "STATE_DIR": "the state folder",
    "TMPDIR": "temporary files",
    "--out": "the copy",
}


class DiskFull(QuireError, OSError):
    """A disk takes no more; `folder` is where, for the machine's own people."""

    folder: str = ""


_DISK_FULL = partial(Kind, SECTION)(
    DiskFull,
    Code.IO_ERROR,
    "DISK_FULL",
    "a disk is full, has no quota left or is mounted read-only; steps of a job are tried again for "
    "a while",
    "make room in the folder that the message or its setting names, then start the job again under "
    "its id: what is paid for is kept",
    "retryable",
    ours=True,
)


def is_disk_full(error: OSError) -> bool:
    """Whether the disk takes no more, whoever writes."""
    return error.errno in _WORDS


def disk_full(error: OSError, setting: str, folder: object = "") -> DiskFull:
    """The disk of a place takes no more. The message has no path, as it becomes part of history
    and results; `with_folder` adds it where it stays on the machine."""
    if isinstance(error, DiskFull):
        return error
    then = "then start the job again under its id: what is paid for is kept."
    if setting == "--out":
        then = "then: `quire result JOB --out ...`; the result is kept."
    found = _DISK_FULL(
        f"The disk of {_PLACES[setting]} ({setting}) {_WORDS.get(error.errno or 0, 'is full')}.",
        f"Make room there or give {setting} another folder, {then}",
    )
    found.folder = str(folder)
    return found


@contextmanager
def disk_errors(setting: str, folder: object) -> Iterator[None]:
    """A full disk as an error that names its place; other errors as they are."""
    try:
        yield
    except OSError as error:
        if is_disk_full(error):
            raise disk_full(error, setting, folder) from error
        raise


def with_folder(error: DiskFull) -> DiskFull:
    """The same error with the folder in its words."""
    if not error.folder:
        return error
    words = f"{error.message.rstrip('.')}: {error.folder}."
    return DiskFull.from_info(error.info.model_copy(update={"message": words}))
