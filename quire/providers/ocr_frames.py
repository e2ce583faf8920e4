"""The frames between the OCR engine's process and its parent: JSON after four bytes of length.

The child writes `{"ready": pid}` once, then for every picture `{"text": ..., "lines": [...],
"turn": 0 to 3}` or `{"failed": ..., "kind": ...}`. It reads what strangers have drawn, so nothing
in a frame is believed unchecked.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quire.contracts.codes import FailureKind
from quire.domain import errors
from quire.domain.document.transcription import ReadLine
from quire.providers.clean_text import clean_text

LENGTH = struct.Struct(">I")
# No page has so much text or so many lines: the process is broken.
LARGEST_FRAME = 16 * 1024**2
_MOST_LINES = 50_000
_LONGEST_REASON = 200


class FrameBroken(Exception):
    """The frame is none that the engine writes."""


@dataclass(frozen=True)
class Reading:
    """A page as the engine read it: its text in order, its lines, and how it was turned."""

    text: str
    lines: tuple[ReadLine, ...]
    turn: int


def frame(what: dict[str, Any]) -> bytes:
    """One frame, ready to be written."""
    body = json.dumps(what).encode()
    return LENGTH.pack(len(body)) + body


def answered(text: str, lines: Sequence[ReadLine], turn: int = 0) -> dict[str, Any]:
    """What the child says of a page."""
    said = [[line.text, line.score, *line.box] for line in lines]
    return {"text": text, "lines": said, "turn": turn}


def parse_frame(body: bytes) -> dict[str, Any]:
    """The frame, or `AttemptFailed` if it tells of a failure."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise FrameBroken from None
    if not isinstance(said, dict):
        raise FrameBroken
    if "failed" in said:
        kind, why = said.get("kind"), clean_text(str(said["failed"]))
        if kind not in tuple(FailureKind):
            raise FrameBroken
        raise errors.ocr_failed(str(kind), why[:_LONGEST_REASON])
    return said


def parse_reading(said: dict[str, Any]) -> Reading:
    """The page in a frame."""
    text, lines, turn = said.get("text"), said.get("lines"), said.get("turn", 0)
    if not isinstance(text, str) or not isinstance(lines, list) or len(lines) > _MOST_LINES:
        raise FrameBroken
    if not isinstance(turn, int) or turn not in range(4):
        raise FrameBroken
    return Reading(clean_text(text), tuple(_line(line) for line in lines), turn)


def _line(said: object) -> ReadLine:
    if not isinstance(said, list) or len(said) != 6 or not isinstance(said[0], str):
        raise FrameBroken
    score, left, top, right, bottom = (_share(number) for number in said[1:])
    if left > right or top > bottom:
        raise FrameBroken
    return ReadLine(clean_text(said[0]), score, (left, top, right, bottom))


def _share(number: object) -> float:
    """A number from 0 to 1."""
    if not isinstance(number, int | float) or not 0 <= number <= 1:  # also no NaN
        raise FrameBroken
    return float(number)
