"""The output of a command: exit codes, lines for people, and one JSON object for programs."""

import errno
import json
import sys
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from quire.contracts.codes import ErrorInfo
from quire.domain import errors
from quire.domain.errors import QuireError, UsageError


class Exit(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    OUR_FAULT = 1
    USAGE = 2
    REFUSED = 3
    NOT_ALLOWED = 4
    DEGRADED = 5
    INTERRUPTED = 130
    # As a shell reports a program that a closed pipe ended (128 + SIGPIPE), such as `yes | head`.
    PIPE_CLOSED = 141


def exit_code(error: QuireError) -> Exit:
    """The exit code of this error."""
    # A missing key is the caller's setting, not the document's fault.
    if isinstance(error, (errors.SettingsError, errors.UsageError, errors.EngineUnavailable)):
        return Exit.USAGE
    if isinstance(error, errors.DocumentRefused) and not isinstance(error, errors.StartRefused):
        return Exit.REFUSED
    if isinstance(error, (errors.JobError, errors.StartRefused)):
        return Exit.NOT_ALLOWED
    return Exit.OUR_FAULT


def say(line: str) -> None:
    """Print a line for people, on standard error; a terminal that is gone breaks nothing."""
    try:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
    except OSError as error:
        if error.errno != errno.EIO:
            raise


@dataclass
class Answer:
    """The one JSON object on standard output, and the job it is about. Each command has one
    `Answer`, as the object of its context."""

    job_id: str | None = None
    printed: bool = False

    def print_json(self, body: object) -> None:
        """Print the one JSON object."""
        self.printed = True
        text = json.dumps(body, indent=2, ensure_ascii=False)
        # The name of a file need not be UTF-8, the JSON must be.
        sys.stdout.write(text.encode(errors="replace").decode() + "\n")
        sys.stdout.flush()

    def print_error(self, info: ErrorInfo, status: str = "failed") -> None:
        """Print the error as the one JSON object, unless the command has printed one."""
        if not self.printed:
            error = info.model_dump(mode="json")
            self.print_json({"job_id": self.job_id, "status": status, "error": error})


@dataclass(frozen=True)
class ResultOutput:
    """How a result is shown."""

    answer: Answer
    as_json: bool = False
    out: Path | None = None
    strict: bool = False
    # Standard output holds the link alone, or the text alone.
    link: bool = False
    text: bool = False
    # The JSON object holds the text too.
    with_text: bool = False

    def check(self) -> None:
        """Refuse options that want standard output for different things."""
        if self.text and self.as_json:
            raise UsageError(
                "--text and --json cannot both have standard output.",
                "--json --with-text puts the text into the JSON.",
            )
        if self.text and self.link:
            raise UsageError("--text and --link cannot both have standard output.")
        if self.with_text and not self.as_json:
            raise UsageError("--with-text goes with --json.", "--text prints the text alone.")

    @property
    def report_on_stderr(self) -> bool:
        """Whether standard output is for something else than the report."""
        return self.text or self.link
