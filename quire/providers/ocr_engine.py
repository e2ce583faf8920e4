"""The OCR engine, as a process of its own: `python -m quire.providers.ocr_engine PARENT THREADS`.

It writes one frame when its models are loaded, then answers every picture on standard input
with a frame on standard output (`quire/providers/ocr_frames.py`).
"""

import ctypes
import os
import queue
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

from quire.domain.document.transcription import ReadLine
from quire.domain.layout.letters import resolve_ligatures
from quire.domain.layout.order import in_reading_order
from quire.domain.layout.slant import Piece, straighten
from quire.providers.ocr_frames import LENGTH, answered, frame

if TYPE_CHECKING:
    from quire.providers.ocr_page import PageReader

_PR_SET_PDEATHSIG = 1


def main(parent: int, threads: int) -> None:
    """Serve pictures until the parent closes the pipe or dies."""
    _die_with(parent)
    # Reading pages must not starve the heartbeats of the worker beside it.
    os.nice(5)
    out = _keep_stdout_to_ourselves()
    try:
        engine = _load(threads)
    except ImportError as error:
        _write(out, {"failed": f"not installed: {error.name}", "kind": "MODEL"})
        return
    _write(out, {"ready": os.getpid()})
    pictures: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, pictures), daemon=True).start()
    while True:
        _write(out, _read(engine, pictures.get()))


def _die_with(parent: int) -> None:
    """End with the parent, even one killed by SIGKILL, but ignore its Ctrl-C and its terminal's
    end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above took effect
            os._exit(1)


def _keep_stdout_to_ourselves() -> BinaryIO:
    """Whatever a library prints goes to standard error and not between the frames."""
    ours = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return ours


def _listen(stdin: BinaryIO, pictures: "queue.SimpleQueue[bytes]") -> None:
    """A thread of its own, so that the end of the pipe is noticed in the middle of a page."""
    while head := stdin.read(LENGTH.size):
        pictures.put(stdin.read(LENGTH.unpack(head)[0]))
    os._exit(0)


def _write(out: BinaryIO, what: dict[str, Any]) -> None:
    out.write(frame(what))
    out.flush()


def _load(threads: int) -> "PageReader":
    import cv2
    import numpy
    from rapidocr import RapidOCR

    from quire.providers.ocr_page import PageReader

    # Lines are read side by side, each on one thread: that leaves no core idle and wastes none.
    cv2.setNumThreads(1)
    engine = RapidOCR(
        params={
            # The angle classifier turns whole upright lines to garbage.
            "Global.use_cls": False,
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        }
    )
    # Each model is loaded at its first use, and nothing to find means nothing to recognise.
    # Square, because the detector enlarges the shorter side of what it sees.
    engine(numpy.full((64, 64, 3), 255, numpy.uint8))
    engine(numpy.full((48, 320, 3), 255, numpy.uint8), use_det=False)
    return PageReader(engine, threads)


def _read(reader: "PageReader", data: bytes) -> dict[str, Any]:
    import cv2
    import numpy

    pixels = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        return {"failed": "the image cannot be decoded", "kind": "REQUEST"}
    found = reader.read(pixels)
    text = resolve_ligatures(in_reading_order(straighten(found.pieces)))
    scored = zip(found.pieces, found.scores, strict=True)
    lines = [_line(piece, score, found.width, found.height) for piece, score in scored]
    return answered(text, lines, found.turn)


def _line(piece: Piece, score: float, width: int, height: int) -> ReadLine:
    xs = [_share(x, width) for x, _ in piece.corners]
    ys = [_share(y, height) for _, y in piece.corners]
    return ReadLine(piece.text, _share(score, 1), (min(xs), min(ys), max(xs), max(ys)))


def _share(value: float, whole: int) -> float:
    return round(min(1.0, max(0.0, value / whole)), 5)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
