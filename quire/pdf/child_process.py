"""What a child process does: it sets its limits once, then opens, surveys and draws on request.

A hostile file can hang, crash or exhaust only the process in which this module runs.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

from PIL import Image

from quire.contracts.reading import ImageOptions
from quire.contracts.stored import PageSurvey
from quire.domain import errors
from quire.domain.document.transcription import PageImage
from quire.domain.errors import AttemptFailed
from quire.domain.layout.hyphens import join_hyphens, keep_hyphens
from quire.pdf import images
from quire.pdf.classify import classify, unsurveyed
from quire.pdf.mupdf import pymupdf
from quire.pdf.open_pdf import LastDocument
from quire.pdf.render import draw_page
from quire.pdf.signals import measure_page

_PR_SET_PDEATHSIG = 1
_last = LastDocument()


def start(memory_bytes: int) -> None:
    """Bound this process's memory, silence its output, and tie its life to its parent's."""
    _release_fork_server()
    parent = os.getppid()
    # Python's handlers run only after C code returns; a hung drawing must end at the first SIGTERM.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before the request took effect
            os._exit(1)
    with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    # Whatever is still printed would mix with the output of the command that started this process.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    Image.init()


def ready() -> None:
    """Answer, as a sign that this process has started."""


def _release_fork_server() -> None:
    """Close this process's copy of the pipe that keeps the fork server alive.

    multiprocessing gives every child a copy, for children of its own. A child stuck in a drawing
    would keep the server, and with it itself, alive after the death of the parent.
    """
    server: Any = forkserver._forkserver
    if server._forkserver_alive_fd is not None:
        os.close(server._forkserver_alive_fd)
        server._forkserver_alive_fd = None


def count_pages(path: str, password: str | None) -> int:
    """Open the document and count its pages."""
    return int(_last.open(path, password).page_count)


def survey_pages(
    path: str, first: int, last: int, password: str | None, budget_s: float
) -> list[PageSurvey]:
    """Survey pages until the time is used up: at least one page, and perhaps not all of them."""
    document = _last.open(path, password)
    end = time.monotonic() + budget_s
    surveyed: list[PageSurvey] = []
    for number in range(first, last + 1):
        surveyed.append(_survey(document, number))
        if time.monotonic() > end:
            break
    _shrink_store()
    return surveyed


def _survey(document: Any, number: int) -> PageSurvey:
    try:
        page = measure_page(document.load_page(number - 1))
        verdict, reason = classify(page.signals)
    except Exception as error:  # MuPDF's own errors derive from Exception alone
        if _out_of_memory(error):
            raise MemoryError from None
        return unsurveyed(number, f"the page is damaged ({type(error).__name__})")
    joined, unjoined = join_hyphens(page.text), keep_hyphens(page.text)
    return PageSurvey(
        page=number,
        classification=verdict,
        reason=reason,
        text=joined,
        unjoined="" if unjoined == joined else unjoined,
        layer=page.layer,
        ink=None if page.signals.ink is None else round(page.signals.ink, 4),
        visible=page.visible,
    )


def draw(
    path: str, number: int, options: ImageOptions, password: str | None, scale: float, turn: int = 0
) -> PageImage:
    """Draw one page; any error of MuPDF becomes a RENDER failure."""
    document = _last.open(path, password)
    if not 1 <= number <= document.page_count:
        raise errors.page_out_of_range(number)
    try:
        return draw_page(document.load_page(number - 1), options, scale, turn)
    except AttemptFailed:
        raise
    except Exception as error:
        if _out_of_memory(error):
            raise MemoryError from None
        raise errors.page_not_drawn(number, f" ({type(error).__name__})") from None
    finally:
        _shrink_store()


def count_frames(path: str) -> int:
    """The number of pages in an image file; 0 when it cannot be opened."""
    return images.count_frames(path)


def survey_image(path: str, frame: int, number: int) -> PageSurvey:
    """Whether a page image is blank; reading its text is left to models."""
    return images.survey_frame(path, frame, number)


def draw_image(
    path: str, frame: int, number: int, options: ImageOptions, scale: float, turn: int = 0
) -> PageImage:
    """Draw one page image for a model; a damaged one is a RENDER failure."""
    try:
        return images.draw_frame(path, frame, options, scale, turn)
    except AttemptFailed:
        raise
    except MemoryError:
        raise
    except Exception as error:
        raise errors.image_damaged(number, error) from None


def _out_of_memory(error: Exception) -> bool:
    """Whether the cause is a lack of memory, for which MuPDF has half a dozen errors."""
    if isinstance(error, MemoryError | pymupdf.mupdf.FzErrorSystem):
        return True
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return limit != resource.RLIM_INFINITY and _peak_bytes() > 0.85 * limit


def _peak_bytes() -> int:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    peak = next((line for line in status.splitlines() if line.startswith("VmPeak")), "")
    return int(peak.split()[1]) * 1024 if peak else 0


def _shrink_store() -> None:
    """Keep the child small: MuPDF's own store keeps decoded images and fonts."""
    pymupdf.TOOLS.store_shrink(50)
