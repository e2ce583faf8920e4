"""The files that settings may stand in: `.env`, `quire.toml`, and the file of a secret.

Each is read whole and once. A file that is named and cannot be used is refused with its name, and
with the line where there is one.
"""

import io
import tomllib
from collections.abc import Iterator
from pathlib import Path

from quire.domain import errors

DOTENV = ".env"
TOML = "quire.toml"
#: In place of a file: no file is read.
NO_FILE = "none"
_READABLE_BY_OTHERS = 0o004
# A file of settings is read whole: no more than this.
LARGEST_FILE = 1_000_000


def find_files(named: str) -> list[Path]:
    """The file that is named, or those of the working folder; the most important first.

    A named file stands alone: what else happens to lie in the folder must not change it.
    """
    if named == NO_FILE:
        return []
    if named:
        path = Path(named).expanduser().absolute()
        if not (is_toml(path) or path.name.startswith(DOTENV) or path.suffix == DOTENV):
            raise errors.settings_file_unusable(path, "its name ends neither in .env nor in .toml")
        return [path]
    # Some name the folder of a virtual environment `.env`.
    return [path for path in (Path(DOTENV).absolute(), Path(TOML).absolute()) if path.is_file()]


def is_toml(path: Path) -> bool:
    """Whether the file is TOML; otherwise it is in the form of `.env`."""
    return path.suffix == ".toml"


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of a `.env`, as they are written: nothing is filled in for `${NAME}`."""
    from dotenv.parser import parse_stream

    values: dict[str, str] = {}
    line = 1
    for binding in parse_stream(io.StringIO(_read(path))):
        text = binding.original.string
        if binding.error:
            # Blank lines before a statement count as part of it.
            skipped = text[: len(text) - len(text.lstrip())].count("\n")
            problem = "this is not NAME=value"
            raise errors.settings_file_unusable(path, problem, line=line + skipped)
        if binding.key and binding.value is not None:
            values[binding.key] = binding.value
        line += text.count("\n")
    return values


def read_toml(path: Path) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value of a TOML file, with the tables it stands in and its key."""
    try:
        yield from flatten(tomllib.loads(_read(path)))
    except (ValueError, RecursionError) as error:
        # The message ends in "(at line 3, column 5)". What is no TOML error is a number or a
        # nesting that is too large for Python.
        known = isinstance(error, tomllib.TOMLDecodeError)
        problem = str(error) if known else "it has a value that is too large"
        raise errors.settings_file_unusable(path, problem) from None


def flatten(table: object, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """The values of a table and of the tables in it, each with its path."""
    if isinstance(table, dict):
        for key, value in table.items():
            yield from flatten(value, (*above, str(key)))
    else:
        yield above, table


def read_secret(name: str, named: str) -> str:
    """The secret in a file, without the line break that editors and `echo` add."""
    path = Path(named).expanduser().absolute()
    secret = _read(path, setting=name).rstrip("\r\n")
    if not secret.strip():
        raise errors.settings_file_unusable(path, "it is empty", setting=name)
    return secret


def others_can_read(path: Path) -> bool:
    """Whether every user of the machine may read the file."""
    return bool(path.stat().st_mode & _READABLE_BY_OTHERS)


def _read(path: Path, setting: str = "") -> str:
    try:
        with path.open("rb") as file:
            # A pipe is allowed, as shells make them for secrets; an endless device is not.
            data = file.read(LARGEST_FILE + 1)
        if len(data) <= LARGEST_FILE:
            return data.decode("utf-8-sig")
        problem = f"it is larger than {LARGEST_FILE:,} bytes"
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except UnicodeDecodeError:
        problem = "it is not UTF-8 text"
    raise errors.settings_file_unusable(path, problem, setting=setting)
