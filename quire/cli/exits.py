"""Exit codes, and how an error reaches a person or a program."""

import json
import sys
from dataclasses import dataclass
from enum import IntEnum

from quire.contracts.codes import Code, ErrorInfo
from quire.domain.errors import DocumentRefused, JobError, QuireError, SettingsError


class Exit(IntEnum):
    DONE = 0
    OUR_FAULT = 1
    USAGE = 2
    REFUSED = 3
    NOT_ALLOWED = 4
    DEGRADED = 5
    INTERRUPTED = 130
    # What a shell says of a program that a closed pipe ended (128 and SIGPIPE), as of `yes | head`.
    PIPE_CLOSED = 141


class UsageError(QuireError):
    """The command was called in a way that cannot work."""

    def __init__(self, message: str, remedy: str = "See --help.") -> None:
        super().__init__(Code.UNKNOWN, "USAGE", message, remedy)


def exit_code(error: QuireError) -> Exit:
    """Which exit code tells of this error."""
    if isinstance(error, (SettingsError, UsageError)):
        return Exit.USAGE
    if isinstance(error, DocumentRefused):
        # A missing key is the caller's setting, not the document's fault.
        return Exit.USAGE if error.info.reason == "AUTH" else Exit.REFUSED
    if isinstance(error, JobError):
        return Exit.NOT_ALLOWED
    return Exit.OUR_FAULT


def say(line: str) -> None:
    """Words for people go to standard error."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@dataclass
class Answer:
    """What a program learns from standard output: one object, and of which job."""

    job_id: str | None = None
    printed: bool = False


# A process is one command, and has one standard output.
ANSWER = Answer()


def show_error(info: ErrorInfo, *, as_json: bool) -> None:
    """One clear line; with `--json` also the one JSON object on standard output."""
    say(info.line())
    if as_json:
        print_error(info)


def print_error(info: ErrorInfo, status: str = "failed") -> None:
    """The error as the one JSON object; of a command that has answered already, nothing more."""
    if not ANSWER.printed:
        error = info.model_dump(mode="json")
        print_json({"job_id": ANSWER.job_id, "status": status, "error": error})


def print_json(body: object) -> None:
    """The one JSON object that standard output holds."""
    ANSWER.printed = True
    sys.stdout.write(json.dumps(body, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()
