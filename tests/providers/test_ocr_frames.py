"""What the engine's process writes, and what of it is believed."""

import json
from typing import Any

import pytest

from quire.contracts.codes import FailureKind
from quire.domain.document.transcription import ReadLine, mean_score
from quire.domain.errors import AttemptFailed
from quire.providers.ocr_frames import (
    LENGTH,
    FrameBroken,
    answered,
    frame,
    parse_frame,
    parse_reading,
)

LINE = ReadLine("Total 12", 0.98, (0.1, 0.2, 0.5, 0.25))


def test_what_is_written_is_read_back() -> None:
    body = frame(answered("Total 12\n", [LINE]))[LENGTH.size :]
    reading = parse_reading(parse_frame(body))
    assert reading.text == "Total 12\n"
    assert reading.lines == (LINE,)


@pytest.mark.parametrize(
    "body",
    [b"", b"no json", b"[]", b"[" * 100_000, b'{"failed": "x", "kind": "PARTY"}', b'{"failed": 1}'],
)
def test_what_is_no_frame_is_refused(body: bytes) -> None:
    with pytest.raises(FrameBroken):
        parse_frame(body)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"text": None, "lines": []},
        {"text": "a"},
        {"text": "a", "lines": {}},
        {"text": "a", "lines": [["a", 0.5, 0, 0, 1]]},
        {"text": "a", "lines": [[1, 0.5, 0, 0, 1, 1]]},
        {"text": "a", "lines": [["a", 1.5, 0, 0, 1, 1]]},
        {"text": "a", "lines": [["a", float("nan"), 0, 0, 1, 1]]},
        {"text": "a", "lines": [["a", 10**400, 0, 0, 1, 1]]},
        {"text": "a", "lines": [["a", "0.5", 0, 0, 1, 1]]},
        {"text": "a", "lines": [["a", 0.5, 0.9, 0, 0.1, 1]]},
        {"text": "a", "lines": [["a", 0.5, 0, 0, 1, 1]] * 50_001},
    ],
)
def test_reading_that_cannot_be_one_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(FrameBroken):
        parse_reading(parse_frame(json.dumps(said).encode()))


def test_text_is_cleaned_and_a_reason_is_short() -> None:
    said = {"text": "a\x00b\ud800", "lines": [["c\x1b", 1, 0, 0, 1, 1]]}
    reading = parse_reading(parse_frame(json.dumps(said).encode()))
    assert reading.text == "ab\ufffd"
    assert reading.lines[0].text == "c"
    with pytest.raises(AttemptFailed) as caught:
        parse_frame(json.dumps({"failed": "x" * 9999, "kind": "REQUEST"}).encode())
    assert caught.value.kind is FailureKind.REQUEST
    assert len(caught.value.info.message) < 300


def test_score_counts_lines_by_their_letters() -> None:
    short = ReadLine("a", 0.0, LINE.box)
    assert mean_score([LINE, short]) == pytest.approx(0.98 * 7 / 8)
    assert mean_score([ReadLine(" ", 0.9, LINE.box)]) is None
    assert mean_score([]) is None
