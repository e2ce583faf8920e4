"""What a start without a signature may ask for."""

import posixpath
from dataclasses import dataclass

from quire.contracts.document import DocumentRequest
from quire.contracts.names import workflow_id
from quire.domain import errors


@dataclass(frozen=True)
class UnsignedRules:
    """What the workers' settings say of starts without a signature."""

    accepted: bool
    # Folders whose files may be read.
    roots: tuple[str, ...] = ()
    # The store and the results: documents of others are there.
    own_places: tuple[str, ...] = ()


def check_unsigned(request: DocumentRequest, started_as: str, rules: UnsignedRules) -> None:
    """Raise `StartRefused` unless the rules let this request in.

    A result is stored under the job's id, so the workflow id must be that job's: else one start
    could write over another job's result.
    """
    if not rules.accepted:
        raise errors.unsigned_start()
    if started_as != workflow_id(request.job_id):
        raise errors.unsigned_request(
            "has a workflow id that is not its job's",
            f"Use the workflow id {workflow_id(request.job_id)}.",
        )
    if request.replaced:
        raise errors.unsigned_request("cannot name a run that it replaces", "Leave out replaced.")
    if request.retry is not None:
        raise errors.unsigned_request(
            "cannot retry pages of a finished job", "Leave out retry, or use: quire retry"
        )
    if not is_open_origin(request.source, rules):
        raise errors.unsigned_origin()


def is_open_origin(origin: str, rules: UnsignedRules) -> bool:
    """Whether the origin is a URL of the web by TLS, an object that is not of the store or the
    results, or by its words a file under the roots. Symbolic links are judged where the file is
    opened."""
    if origin.lower().startswith("https://"):
        return True
    if origin.startswith("s3://"):
        return not any(_is_in(origin, place) for place in rules.own_places)
    if not origin.startswith("/"):
        return False
    path = posixpath.normpath(origin)
    return any(_is_in(path, posixpath.normpath(root)) for root in rules.roots)


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
