"""Objects that the store should hold and does not."""

import errno
from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.document import SECTION
from quire.domain.errors.tree import QuireError


class StoredObjectGone(QuireError):
    """What an attempt needs is gone: the workflow can have it made again, a retry cannot."""


class SourceGone(StoredObjectGone):
    """The document itself is gone, and its origin may still have it."""


_kind = partial(Kind, SECTION)
_BRIEF = _kind(
    StoredObjectGone,
    Code.IO_ERROR,
    "BRIEF_GONE",
    "what all attempts of the document have in common is gone from the store, and was written "
    "again in vain",
    "see what removes or damages objects of the store",
    ours=True,
)
_SOURCE = _kind(
    SourceGone,
    Code.IO_ERROR,
    "DOCUMENT_GONE",
    "the document is gone from the store while its pages are read, and cannot be fetched again",
    "submit it again",
)


def brief_missing() -> StoredObjectGone:
    """The brief of a document that is being read is gone."""
    return _BRIEF("The document's brief is gone from the store.", "Retry the page.")


def source_missing() -> SourceGone:
    """A document whose pages are being read is gone."""
    return _SOURCE("The document is no longer in the store.", "Submit it again.")


def store_folder_vanishes() -> FileNotFoundError:
    """Something keeps removing the store's folder: an error of the system, as the store's own."""
    return FileNotFoundError(errno.ENOENT, "the store's folder keeps vanishing")
