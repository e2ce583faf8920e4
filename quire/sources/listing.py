"""The documents behind what people name: files, folders, globs, prefixes of buckets, manifests."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quire.contracts.codes import ErrorInfo
from quire.domain import errors
from quire.domain.document.page_images import natural_key
from quire.domain.errors import QuireError
from quire.sources.fetch import is_remote
from quire.sources.file_kind import HEAD, kind_of

MANIFESTS = (".jsonl", ".csv")


@dataclass(frozen=True)
class Found:
    """One document, or the error in its place."""

    # An absolute path or a URL.
    origin: str
    # As people are shown it.
    shown: str
    # What stands for its bytes without reading them; empty where there is nothing of the kind.
    content: str = ""
    error: ErrorInfo | None = None
    job_id: str | None = None
    pages: str | None = None
    engine: str | None = None
    password: str | None = None
    value: str | None = None
    due: str | None = None

    @classmethod
    def refused(cls, origin: str, shown: str, error: QuireError) -> "Found":
        """A document that cannot be read, with the reason."""
        return cls(origin, shown, error=error.info)


@dataclass
class Links:
    """Links in folders: whether they are followed, and how many were left out."""

    follow: bool = False
    left_out: int = 0


def list_sources(sources: list[str], links: Links) -> Iterator[Found]:
    """All documents, in the order in which their sources were given; those of a folder or a glob
    in the order in which people sort names."""
    for source in sources:
        yield from _list_one(source, links)


def _list_one(source: str, links: Links) -> Iterator[Found]:
    if is_remote(source):
        yield from _list_remote(source)
        return
    path = Path(source.removeprefix("file://")).expanduser().absolute()
    if path.is_dir():
        yield from _of_folder(path, source, links)
    elif path.suffix.lower() in MANIFESTS and path.is_file():
        # Imported late: it imports what is here.
        from quire.sources.manifest import read_manifest

        yield from read_manifest(path)
    elif not path.exists() and glob.has_magic(source):
        yield from _of_glob(str(path), source, links)
    else:
        yield Found(str(path), source)


def _of_glob(pattern: str, shown: str, links: Links) -> Iterator[Found]:
    found = sorted(glob.glob(pattern, recursive=True), key=natural_key)  # noqa: PTH207 (absolute)
    if not found:
        yield Found.refused(pattern, shown, errors.nothing_found(shown))
    for name in found:
        if Path(name).is_dir():
            yield from _of_folder(Path(name), name, links)
        else:
            yield Found(name, name)


def _of_folder(folder: Path, shown: str, links: Links) -> Iterator[Found]:
    """Every PDF in the folder and those below it; a folder that cannot be read is an error."""
    empty = True
    for found in _walk(folder, links, frozenset()):
        empty = False
        yield found
    if empty:
        yield Found.refused(str(folder), shown, errors.nothing_found(shown))


def _walk(folder: Path, links: Links, above: frozenset[Path]) -> Iterator[Found]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: natural_key(entry.name))
    except OSError:
        yield Found.refused(str(folder), str(folder), errors.folder_unreadable(str(folder)))
        return
    above |= {folder.resolve()}
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink() and not links.follow:
            links.left_out += entry.is_dir() or _is_document(path)
        elif entry.is_dir():
            # A link may lead back to where it is.
            if path.resolve() not in above:
                yield from _walk(path, links, above)
        elif _is_document(path):
            yield Found(entry.path, entry.path)


def _is_document(path: Path) -> bool:
    """Called a PDF, or one whatever it is called. A damaged one must not be left out silently."""
    if path.name.startswith("."):
        return False
    if path.suffix.lower() == ".pdf":
        return True
    try:
        with path.open("rb") as file:
            return path.is_file() and kind_of(file.read(HEAD)) == "pdf"
    except OSError:
        return False


def _list_remote(url: str) -> Iterator[Found]:
    shown = shown_url(url)
    if not url.startswith("s3://") or (url.count("/") > 2 and not url.endswith("/")):
        yield Found(url, shown, content=url)
        return
    # Imported late: boto3 takes a quarter of a second.
    from quire.sources.bucket_list import list_prefix

    try:
        yield from list_prefix(url)
    except (QuireError, OSError) as error:
        known = error if isinstance(error, QuireError) else errors.storage_failed(error)
        yield Found.refused(url, shown, known)


def shown_url(url: str) -> str:
    """A URL without what may be secret in it: user, password, query."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
