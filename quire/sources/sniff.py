"""What a file is, judged by its content alone."""

from pathlib import Path

from quire.contracts.codes import Code
from quire.domain.document.origin import FileKind
from quire.domain.errors import DocumentRefused

# Real files carry junk before the header, and readers have always looked for it this far.
HEAD = 1024
_BMP_HEADERS = {12, 16, 40, 52, 56, 64, 108, 124}


def kind_of(head: bytes) -> FileKind | None:
    """From the first `HEAD` bytes; None for what Quire cannot read."""
    if _is_image(head):
        return "image"
    return "pdf" if b"%PDF" in head else None


def _is_image(head: bytes) -> bool:
    return (
        head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"))
        or head.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"))
        or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")
        # Two letters are little to go by.
        or (head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADERS)
    )


def check_file(path: Path, max_bytes: int, name: str | None = None) -> FileKind:
    """Refuse what cannot be a document before anything is copied."""
    shown = repr(name or path.name)
    if not path.exists():
        raise DocumentRefused(
            Code.IO_ERROR, "NOT_FOUND", f"There is no file {shown}.", "Check the path."
        )
    if not path.is_file():
        raise DocumentRefused(
            Code.IO_ERROR, "NOT_A_FILE", f"{shown} is not a file.", "Name one PDF file."
        )
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEAD)
    except PermissionError:
        raise DocumentRefused(
            Code.IO_ERROR, "UNREADABLE", f"{shown} may not be read.", "Check its permissions."
        ) from None
    if size == 0:
        raise DocumentRefused(
            Code.NOT_PDF, "EMPTY", f"{shown} is empty.", "Check where the file came from."
        )
    if size > max_bytes:
        raise too_large(f"{shown} has {size:,} bytes", max_bytes)
    kind = kind_of(head)
    if kind is None:
        raise DocumentRefused(
            Code.NOT_PDF,
            "NOT_PDF",
            f"{shown} is neither a PDF nor an image.",
            "Give a PDF, or page images: PNG, JPEG, TIFF, WebP, GIF or BMP.",
        )
    return kind


def too_large(what: str, max_bytes: int) -> DocumentRefused:
    """More bytes than `MAX_FILE_SIZE`."""
    return DocumentRefused(
        Code.TOO_LARGE,
        "BYTES",
        f"{what}; at most {max_bytes:,} are allowed.",
        "Split it, or raise MAX_FILE_SIZE.",
    )
