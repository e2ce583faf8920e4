"""Manifests: a row a document, as JSON Lines or CSV, with options of its own."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from quire.contracts.names import JOB_ID
from quire.contracts.page_ranges import parse_pages
from quire.domain import errors
from quire.domain.errors import DocumentRefused, UsageError
from quire.sources.fetch import is_remote
from quire.sources.listing import Found, shown_url

COLUMNS = ("source", "job_id", "password_file", "pages", "engine", "value", "due")


def read_manifest(path: Path) -> Iterator[Found]:
    """A document a row; paths are relative to the manifest. A row that is not understood is an
    error in its place, and the others are read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The manifest {path.name!r} cannot be read ({type(error).__name__}).",
            "Write it in UTF-8.",
        ) from None
    rows = _of_csv(text) if path.suffix.lower() == ".csv" else _of_json_lines(text)
    for line, row in rows:
        try:
            yield _document(row, path.parent)
        except ValueError as problem:
            refused = errors.bad_manifest_row(line, str(problem))
            yield Found.refused("", f"{path.name}:{line}", refused)
        except DocumentRefused as error:
            yield Found.refused("", f"{path.name}:{line}", error)


Row = Mapping[str, Any] | ValueError


def _of_csv(text: str) -> Iterator[tuple[int, Row]]:
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    names = [name.strip() for name in reader.fieldnames or ()]
    if "source" not in names:
        raise UsageError(
            "The manifest has no column 'source'.", f"Its columns: {', '.join(COLUMNS)}."
        )
    reader.fieldnames = names
    for row in reader:
        extra = None in row
        yield reader.line_num, ValueError("it has more cells than the head") if extra else row


def _of_json_lines(text: str) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = ValueError("it is not JSON")
        if not isinstance(row, dict | ValueError):
            row = ValueError('it is not an object such as {"source": "a.pdf"}')
        yield number, row


def _document(row: Row, folder: Path) -> Found:
    if isinstance(row, ValueError):
        raise row
    unknown = [name for name in row if name not in COLUMNS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(COLUMNS)}")
    cells = {name: _text(name, row[name]) for name in row}
    source = cells.get("source")
    if not source:
        raise ValueError("it has no source")
    job_id = cells.get("job_id")
    if job_id is not None and not re.fullmatch(JOB_ID, job_id):
        raise ValueError(f"{job_id!r:.60} is not a job id")
    if pages := cells.get("pages"):
        parse_pages(pages)
    secret = cells.get("password_file")
    return Found(
        origin=source if is_remote(source) else str(_path(source, folder)),
        shown=shown_url(source) if is_remote(source) else source,
        content=source if is_remote(source) else "",
        job_id=job_id,
        pages=pages,
        engine=cells.get("engine"),
        password=None if secret is None else _password(_path(secret, folder)),
        value=cells.get("value"),
        due=cells.get("due"),
    )


def _path(name: str, folder: Path) -> Path:
    return folder / Path(name.removeprefix("file://")).expanduser()


def _text(name: str, cell: object) -> str | None:
    """A cell as text; an empty one is none."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, str):
        return cell if name == "password_file" else cell.strip() or None
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return str(cell)
    raise ValueError(f"its {name} is not a text")


def _password(path: Path) -> str:
    """The first line of the file; blanks count."""
    try:
        return path.read_text(encoding="utf-8").split("\n", 1)[0].removesuffix("\r")
    except (OSError, UnicodeDecodeError):
        raise errors.password_file_unreadable(path.name) from None
