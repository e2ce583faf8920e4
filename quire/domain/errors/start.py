"""Errors of a start that the workers of a cluster do not accept."""

from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.tree import DocumentRefused

SECTION = "document"


class StartRefused(DocumentRefused):
    """The workers do not accept the job as it was started."""


_kind = partial(Kind, SECTION, StartRefused, Code.FORBIDDEN)
_UNSIGNED = _kind(
    "UNSIGNED",
    "the start is not signed, and the workers accept signed starts only",
    "start it with `quire process` of this version, or set `ACCEPT_UNSIGNED=true` for the workers",
)
_BAD_SIGNATURE = _kind(
    "BAD_SIGNATURE",
    "the start was signed for another request or job, or with another key than the workers have",
    "give the tool the `ENCRYPTION_KEYS`, or without them the `STORE_URL`, of the workers",
)
_ORIGIN = _kind(
    "UNSIGNED_ORIGIN",
    "a start that is not signed may not name this origin",
    "give an `https://` or `s3://` URL, or a file under a folder of the workers' `SOURCE_ROOTS`",
)
_REQUEST = _kind(
    "UNSIGNED_REQUEST",
    "a start that is not signed has a field that only signed starts may have, or an id that is "
    "not its job's",
    "use the workflow id `document-` and the job id, and leave out `retry`",
)
_OUTSIDE = _kind(
    "OUTSIDE_ROOTS",
    "a worker of a cluster reads files under its `SOURCE_ROOTS` only",
    "name the folder there, or let `quire process` put the file into the store",
)
_NOT_CONTINUED = _kind(
    "NOT_CONTINUED",
    "a start brings the state of an earlier run that it does not continue",
    "leave out `carried`",
)


def unsigned_start() -> StartRefused:
    """The start has no signature."""
    return _UNSIGNED(
        "The job was started without a signature.",
        "Start it with the tool, or set ACCEPT_UNSIGNED=true for the workers.",
    )


def bad_signature() -> StartRefused:
    """The signature belongs to something else."""
    return _BAD_SIGNATURE(
        "The signature of the start is not for this job, or made with another key.",
        "Give the tool the same ENCRYPTION_KEYS and STORE_URL as the workers.",
    )


def unsigned_origin() -> StartRefused:
    """An unsigned start names an origin that is for signed ones."""
    return _ORIGIN(
        "A start without a signature may not name this origin.",
        "Give an https:// or s3:// URL, or a file under the workers' SOURCE_ROOTS.",
    )


def unsigned_request(problem: str, remedy: str) -> StartRefused:
    """An unsigned start uses what is for signed ones."""
    return _REQUEST(f"A start without a signature {problem}.", remedy)


def outside_roots() -> StartRefused:
    """The file is in no folder that the workers may read."""
    return _OUTSIDE(
        "The file is in no folder that the workers may read.",
        "Name its folder in the workers' SOURCE_ROOTS, or process it with the tool.",
    )


def not_continued() -> StartRefused:
    """A start brings the state of a run that it does not continue."""
    return _NOT_CONTINUED(
        "The start brings the state of an earlier run, and continues none.", "Leave out carried."
    )
