"""The kind of a file, judged by its content alone."""

from pathlib import Path

from quire.domain import errors
from quire.domain.document.origin import FileKind

# Real files have junk before the header; PDF readers search this many bytes for it.
HEAD = 1024
_BMP_HEADERS = {12, 16, 40, 52, 56, 64, 108, 124}


def kind_of(head: bytes) -> FileKind | None:
    """The kind by the first `HEAD` bytes; None for a file that Quire cannot read."""
    if _is_image(head):
        return "image"
    return "pdf" if b"%PDF" in head else None


def _is_image(head: bytes) -> bool:
    return (
        head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"))
        or head.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"))
        or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")
        # Two letters alone would match too many files.
        or (head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADERS)
    )


def check_file(path: Path, max_bytes: int, name: str | None = None) -> FileKind:
    """The kind of the file; one that cannot be a document is refused before it is copied."""
    shown = repr(name or path.name)
    if not path.exists():
        raise errors.file_not_found(shown)
    if not path.is_file():
        raise errors.not_a_file(shown)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEAD)
    except PermissionError:
        raise errors.file_not_permitted(shown) from None
    if size == 0:
        raise errors.empty_file(shown)
    if size > max_bytes:
        raise errors.too_many_bytes(f"{shown} has {size:,} bytes", allowed=max_bytes)
    kind = kind_of(head)
    if kind is None:
        raise errors.neither_pdf_nor_image(shown)
    return kind
