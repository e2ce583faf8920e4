"""Opens a PDF, or says why it cannot be opened. Runs in the child process."""

import mmap
import os
import re
from pathlib import Path
from typing import Any, NoReturn

from quire.domain import errors
from quire.pdf.mupdf import pymupdf
from quire.pdf.passwords import password_forms

_CERTIFICATE = re.compile(rb"/Filter\s*/(Adobe\.PubSec|Adobe\.PPKLite|Entrust\.PPKEF)")


class LastDocument:
    """Keeps the last document open: most calls are for another page of the same file."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] | None = None
        self._document: Any = None

    def open(self, path: str, password: str | None) -> Any:
        """The open document; raises `DocumentRefused` when it cannot be opened."""
        try:
            stat = Path(path).stat()
        except OSError as error:
            raise errors.stored_file_vanished(os.strerror(error.errno or 0)) from None
        key = (path, stat.st_mtime_ns, stat.st_size, stat.st_ino, password)
        if key != self._key:
            self.clear()
            self._document = open_pdf(path, stat.st_size, password)
            self._key = key
        return self._document

    def clear(self) -> None:
        """Close the document that is open."""
        document, self._document, self._key = self._document, None, None
        if document is not None:
            document.close()


def open_pdf(path: str, size: int, password: str | None) -> Any:
    """Open and unlock the file and count its pages; each refusal has its own reason and remedy."""
    if size == 0:
        raise errors.empty_file()
    try:
        document = pymupdf.open(path, filetype="pdf")
    except Exception:  # MuPDF's own errors derive from Exception alone
        _explain(path)
    try:
        if not document.is_pdf:  # MuPDF opens images and more, whatever `filetype` says
            raise errors.not_a_pdf()
        if document.needs_pass or password:
            _unlock(document, password)
        if _pages(document) == 0:
            raise errors.pdf_without_pages()
    except BaseException:
        document.close()
        raise
    return document


def _pages(document: Any) -> int:
    try:
        return int(document.page_count)
    except Exception:
        return 0


def _unlock(document: Any, password: str | None) -> None:
    # Blanks count: a password may begin with them, end with them, or consist of them.
    if password is None or password == "":
        raise errors.password_missing()
    # The given form comes first. Newer files are locked with the prepared form, which MuPDF does
    # not derive itself.
    if any(document.authenticate(form) for form in password_forms(password)):
        return
    raise errors.password_wrong(locked=bool(document.needs_pass))


def _explain(path: str) -> NoReturn:
    head, certificate = _sniff(path)
    if certificate:
        raise errors.locked_to_certificate()
    if b"%PDF-" in head:
        raise errors.damaged_pdf()
    raise errors.not_a_pdf()


def _sniff(path: str) -> tuple[bytes, bool]:
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        return data[:1024], _CERTIFICATE.search(data) is not None
