"""Turns what people write on the command line into what the program needs."""

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from quire.contracts.document import DocumentRequest
from quire.contracts.page_ranges import parse_pages
from quire.domain.errors import UsageError
from quire.domain.units import parse_duration
from quire.jobs.job_id import check_job_id
from quire.settings import forget_password

if TYPE_CHECKING:
    from quire.jobs.origins import Given

# The name of a document that came by standard input.
STDIN = "stdin"


def make_request(**fields: Any) -> DocumentRequest:
    """The request of a document; a wrong field is refused under the name of its option."""
    check_job_id(fields["job_id"], "--job-id")
    try:
        return DocumentRequest(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"--{first['loc'][0]}: {first['msg']}.") from None


def read_password(path: Path) -> str:
    """The first line of the file without its line end; blanks count."""
    if str(path) == "-" and sys.stdin.isatty():
        return getpass.getpass("Password: ", stream=sys.stderr)
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--password-file: {type(error).__name__}.", "Check the file.") from None
    return text.split("\n", 1)[0].removesuffix("\r")


def read_secret(password: str | None, password_file: Path | None) -> str | None:
    """The password from the option or a file; it is removed from the environment."""
    forget_password()
    return password if password_file is None else read_password(password_file)


def given_document(source: list[str], password_file: Path | None) -> "Given":
    """The sources as they are, or standard input for a dash."""
    if "-" not in source:
        return source
    from quire.jobs.origins import Upload

    if len(source) > 1:
        raise UsageError("Standard input (-) cannot be combined with other documents.")
    if password_file is not None and str(password_file) == "-":
        raise UsageError(
            "Standard input cannot be both the document and the password.",
            "Put the password into a file, or into QUIRE_PASSWORD.",
        )
    if sys.stdin is None:
        raise UsageError("Standard input is closed, and - reads the document from it.")
    if sys.stdin.isatty():
        raise UsageError(
            "Standard input is a terminal, and - reads the document from it.",
            "Send a file: `quire process - < document.pdf`; a file of that name is ./-.",
        )
    return Upload(sys.stdin.buffer, STDIN)


def check_out(folder: Path | None) -> None:
    """Refuse a folder that cannot be created, before the document is paid for."""
    if folder is None:
        return
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise UsageError(f"--out {folder}: {there.name!r} is a file.", "Name a folder.")


def seconds_of(text: str | None, option: str = "--deadline") -> float | None:
    """A time such as 3m, in seconds."""
    try:
        return None if text is None else parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option} {text!r} is not {error}.") from None


def page_list(spec: str | None) -> str | None:
    """Pages such as 1-5,9, unchanged once they are checked."""
    try:
        return spec if spec is None or parse_pages(spec) else None
    except ValueError as error:
        raise UsageError(f"--pages: {error}.") from None
