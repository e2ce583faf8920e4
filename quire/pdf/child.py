"""What a child process does: set its limits once, then open, survey and draw on request.

A hostile file can hang, crash or exhaust only the process this module runs in.
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

from quire.contracts.codes import FailureKind
from quire.contracts.reading import ImageOptions
from quire.contracts.stored import PageSurvey
from quire.domain import errors
from quire.domain.document.transcription import PageImage
from quire.domain.errors import AttemptFailed
from quire.pdf import images
from quire.pdf.classify import classify, unsurveyed
from quire.pdf.mupdf import pymupdf
from quire.pdf.opening import Shelf
from quire.pdf.render import draw_page
from quire.pdf.signals import gather

_PR_SET_PDEATHSIG = 1
_shelf = Shelf()


def start(memory_bytes: int) -> None:
    """Make this process safe to lose: bounded memory, silent, and gone with its parent."""
    _let_the_server_end()
    parent = os.getppid()
    # Python's handlers wait until C code returns; a hung drawing must die at the first SIGTERM.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we asked to be told
            os._exit(1)
    with contextlib.suppress(ValueError, OSError):  # macOS knows no such limit
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    # Anything that still prints would mix with the output of the command that started us.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    Image.init()


def _let_the_server_end() -> None:
    """Close the end of the pipe by which a fork server learns that nobody needs it any more.

    multiprocessing hands it to every child, in case it wants children of its own. A child
    stuck in a drawing would so keep the server, and itself, alive after the parent's death.
    """
    server: Any = forkserver._forkserver
    if server._forkserver_alive_fd is not None:
        os.close(server._forkserver_alive_fd)
        server._forkserver_alive_fd = None


def count_pages(path: str, password: str | None) -> int:
    """Open the document and count its pages."""
    return int(_shelf.open(path, password).page_count)


def survey_pages(
    path: str, first: int, last: int, password: str | None, budget_s: float
) -> list[PageSurvey]:
    """Survey pages until the budget is used up: at least one, and maybe not all of them."""
    document = _shelf.open(path, password)
    end = time.monotonic() + budget_s
    surveyed: list[PageSurvey] = []
    for number in range(first, last + 1):
        surveyed.append(_survey(document, number))
        if time.monotonic() > end:
            break
    _tidy()
    return surveyed


def _survey(document: Any, number: int) -> PageSurvey:
    try:
        signals, text = gather(document.load_page(number - 1))
        verdict, reason = classify(signals)
    except Exception as error:  # MuPDF's own errors derive from Exception alone
        if _starved(error):
            raise MemoryError from None
        return unsurveyed(number, f"the page is damaged ({type(error).__name__})")
    return PageSurvey(page=number, classification=verdict, reason=reason, text=text)


def draw(
    path: str, number: int, options: ImageOptions, password: str | None, scale: float
) -> PageImage:
    """Draw one page; whatever MuPDF says against it becomes a RENDER failure."""
    document = _shelf.open(path, password)
    if not 1 <= number <= document.page_count:
        raise AttemptFailed(FailureKind.RENDER, f"There is no page {number}.")
    try:
        return draw_page(document.load_page(number - 1), options, scale)
    except AttemptFailed:
        raise
    except Exception as error:
        if _starved(error):
            raise MemoryError from None
        raise errors.page_not_drawn(number, f" ({type(error).__name__})") from None
    finally:
        _tidy()


def count_frames(path: str) -> int:
    """How many pages an image file has; 0 when it cannot be opened."""
    return images.count_frames(path)


def survey_image(path: str, frame: int, number: int) -> PageSurvey:
    """Whether there is anything on a page image; its text is for models to read."""
    return images.survey_frame(path, frame, number)


def draw_image(
    path: str, frame: int, number: int, options: ImageOptions, scale: float
) -> PageImage:
    """Draw one page image for a model; a damaged one is a RENDER failure."""
    try:
        return images.draw_frame(path, frame, options, scale)
    except AttemptFailed:
        raise
    except MemoryError:
        raise
    except Exception as error:
        raise AttemptFailed(
            FailureKind.RENDER, f"Page {number} is a damaged image ({type(error).__name__})."
        ) from None


def _starved(error: Exception) -> bool:
    """Out of memory, whatever name the failure goes by: MuPDF has half a dozen for it."""
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


def _tidy() -> None:
    """Keep the child small: MuPDF's store holds on to decoded images and fonts."""
    pymupdf.TOOLS.store_shrink(50)
