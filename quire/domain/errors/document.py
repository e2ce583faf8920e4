"""Errors of a document's content, and of a document whose pages were never reached."""

from functools import partial

from quire.contracts.codes import Code
from quire.domain.counts import counted
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.tree import DocumentRefused

SECTION = "document"
_kind = partial(Kind, SECTION, DocumentRefused)


class EngineUnavailable(DocumentRefused):
    """An engine requested by name cannot be used: a setting is missing."""


_EMPTY = _kind(Code.NOT_PDF, "EMPTY", "the file has no bytes", "check where it came from")
_NOT_PDF = _kind(
    Code.NOT_PDF, "NOT_PDF", "the file is something else, whatever its name says", "give a PDF"
)
_DAMAGED = _kind(
    Code.NOT_PDF,
    "DAMAGED",
    "the file begins as a PDF, but cannot be opened",
    "repair or export it again",
)
_NO_PAGES = _kind(
    Code.NOT_PDF, "NO_PAGES", "the file opens, and has no pages", "repair or export it again"
)
_CANNOT_OPEN = _kind(
    Code.NOT_PDF,
    "UNREADABLE",
    "opening the file hangs, crashes or takes too much memory",
    "repair or export it again",
)
_TOO_MANY_BYTES = _kind(
    Code.TOO_LARGE, "BYTES", "over `MAX_FILE_SIZE`", "split it, or raise the limit"
)
_TOO_MANY_PAGES = _kind(Code.TOO_LARGE, "PAGES", "over `MAX_PAGES`", "split it, or raise the limit")
_TOO_MANY_IMAGES = _kind(
    Code.TOO_LARGE, "IMAGES", "over `MAX_IMAGES`", "split them, or raise the limit"
)
_NO_IMAGES = _kind(
    Code.NOT_PDF,
    "NO_IMAGES",
    "the folder holds no page images",
    "give a PDF, or a folder of PNG, JPEG, TIFF, WebP, GIF or BMP files",
)
_SEVERAL = _kind(Code.NOT_PDF, "SEVERAL", "a PDF among several files", "give PDFs one by one")
_PASSWORD_MISSING = _kind(
    Code.IO_ERROR,
    "PASSWORD_MISSING",
    "the document is locked",
    "give its password with `--password`",
)
_PASSWORD_WRONG = _kind(
    Code.IO_ERROR,
    "PASSWORD_WRONG",
    "the password does not open the document",
    "check the password; blanks count",
)
_PUBLIC_KEY = _kind(
    Code.IO_ERROR,
    "PUBLIC_KEY",
    "the document is locked to a certificate, and no password opens it",
    "export it without that protection",
)
_NO_SUCH_PAGE = _kind(
    Code.UNKNOWN, "PAGES", "none of the pages of `--pages` exists", "name pages that exist"
)
_DEADLINE = _kind(
    Code.GW_TIMEOUT,
    "DEADLINE",
    "the deadline passed before the document could be fetched",
    "check that workers run, or give a longer `--deadline`",
    "retryable",
)
_NO_WORKER = _kind(
    Code.GW_TIMEOUT,
    "NO_WORKER",
    "no worker finished a step in time",
    "check the workers",
    "retryable",
    ours=True,
)
_CANCELLED = _kind(
    Code.NOT_READY,
    "CANCELLED",
    "the document was cancelled before it could be fetched",
    "submit it again if still wanted",
)
# Documented with the failures of pages, whose names it shares.
_ENGINE = Kind("", EngineUnavailable, Code.GW_4XX, "AUTH", "", "")

_REEXPORT = "Repair or re-export the document, then send it again."
_SEND_A_PDF = "Send a PDF or page images."


def empty_file(name: str | None = None) -> DocumentRefused:
    """The file has no bytes; `name` is the name that the person gave, if there is one."""
    if name is None:
        return _EMPTY("The file is empty.", "Send the document again.")
    return _EMPTY(f"{name} is empty.", "Check where the file came from.")


def not_a_pdf() -> DocumentRefused:
    """MuPDF opens the file as something else, or not at all."""
    return _NOT_PDF("The file is not a PDF.", _SEND_A_PDF)


def neither_pdf_nor_image(name: str) -> DocumentRefused:
    """The first bytes are those of neither a PDF nor an image."""
    return _NOT_PDF(
        f"{name} is neither a PDF nor an image.",
        "Give a PDF, or page images: PNG, JPEG, TIFF, WebP, GIF or BMP.",
    )


def damaged_pdf() -> DocumentRefused:
    """The file begins as a PDF, but cannot be opened."""
    return _DAMAGED("The file begins as a PDF but is too damaged to open.", _REEXPORT)


def pdf_without_pages() -> DocumentRefused:
    """The PDF opens, but has no pages."""
    return _NO_PAGES("The PDF is damaged: no page can be found in it.", _REEXPORT)


def no_image_opens() -> DocumentRefused:
    """None of the page images can be opened."""
    return _NO_PAGES(
        "None of the images can be opened.",
        "Check the files in an image viewer, then send them again.",
    )


def pdf_cannot_be_opened(why: str) -> DocumentRefused:
    """Opening the PDF hangs, crashes or takes too much memory."""
    return _CANNOT_OPEN(f"The PDF cannot be opened: {why}.", _REEXPORT)


def too_many_bytes(found: str, *, allowed: int) -> DocumentRefused:
    """Larger than `MAX_FILE_SIZE`; `found` says what has how many bytes."""
    return _TOO_MANY_BYTES(
        f"{found}; at most {allowed:,} are allowed.", "Split it, or raise MAX_FILE_SIZE."
    )


def too_many_pages(*, found: int, allowed: int) -> DocumentRefused:
    """More pages than `MAX_PAGES`."""
    return _TOO_MANY_PAGES(
        f"The document has {counted(found, 'page')}; at most {allowed} are allowed.",
        "Split it, or raise MAX_PAGES.",
    )


def too_many_images(*, found: int, allowed: int) -> DocumentRefused:
    """More page images than `MAX_IMAGES`."""
    return _TOO_MANY_IMAGES(
        f"There are {found} page images; at most {allowed} are allowed.",
        "Split them, or raise MAX_IMAGES.",
    )


def no_images_in_folder(name: str) -> DocumentRefused:
    """The folder holds no page images."""
    return _NO_IMAGES(
        f"The folder {name!r} has no page images in it.",
        "Give a PDF, or a folder of PNG, JPEG, TIFF, WebP, GIF or BMP files.",
    )


def pdf_among_several(name: str) -> DocumentRefused:
    """Only page images are combined into one document."""
    return _SEVERAL(
        f"{name!r} is a PDF among several files.",
        "Give PDFs one by one; only page images are combined.",
    )


def password_missing() -> DocumentRefused:
    """The document is locked, and no password was given."""
    return _PASSWORD_MISSING(
        "The document is locked and no password was given.",
        "Give the password the document opens with.",
    )


def password_wrong(*, locked: bool) -> DocumentRefused:
    """The password is not one of the document's; `locked` if it does not open without one."""
    if locked:
        return _PASSWORD_WRONG(
            "The document is locked and the password does not open it.",
            "Check the password; blanks and capitals count.",
        )
    return _PASSWORD_WRONG(
        "The document is protected, and the password is not one of its passwords.",
        "Check the password, or give none: the document opens without one.",
    )


def locked_to_certificate() -> DocumentRefused:
    """Encrypted for the holder of a certificate."""
    return _PUBLIC_KEY(
        "The document is encrypted for the holder of a certificate; no password opens it.",
        "Save a copy without encryption, then send that.",
    )


def no_such_page(spec: str, *, page_count: int) -> DocumentRefused:
    """None of the requested pages exists."""
    return _NO_SUCH_PAGE(
        f"The document has {counted(page_count, 'page')}; none of '{spec}' exists.",
        "Name pages that exist with --pages.",
    )


def deadline_before_fetch() -> DocumentRefused:
    """The deadline passed before the document was fetched."""
    return _DEADLINE(
        "The deadline passed before the document could be fetched.",
        "Check that workers run, or give a longer --deadline.",
    )


def cancelled_before_fetch() -> DocumentRefused:
    """A person cancelled the job before the document was fetched."""
    return _CANCELLED(
        "The document was cancelled before it could be fetched.",
        "Submit it again if it is still wanted.",
    )


def no_worker_in_time() -> DocumentRefused:
    """No worker finished a step of the document in time."""
    return _NO_WORKER(
        "No worker finished this step in time.",
        "Check the workers and their logs, then submit the document again.",
    )


def engine_unavailable(engine: str, *, missing: str) -> EngineUnavailable:
    """The engine requested by name lacks a setting."""
    return _ENGINE(
        f"The engine {engine} cannot be used: {missing}.",
        "Set what is missing, or choose another engine with --engine.",
    )
