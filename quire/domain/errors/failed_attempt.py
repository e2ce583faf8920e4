"""Why one attempt at a page failed: the page cannot be drawn, or the answer is not its text."""

from quire.contracts.codes import FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.domain.errors.attempt import AttemptFailed
from quire.domain.errors.tree import DocumentRefused

# --- drawing -------------------------------------------------------------------------------


def page_not_drawn(page: int, why: str) -> AttemptFailed:
    """The page cannot be drawn as an image for a model."""
    return AttemptFailed(FailureKind.RENDER, f"Page {page} cannot be drawn{why}.")


def page_out_of_range(page: int) -> AttemptFailed:
    """The document does not have so many pages."""
    return AttemptFailed(FailureKind.RENDER, f"There is no page {page}.")


def page_without_area() -> AttemptFailed:
    """The page has no width or no height."""
    return AttemptFailed(FailureKind.RENDER, "The page has no area to draw.")


def image_damaged(page: int, error: Exception) -> AttemptFailed:
    """The page is an image file that cannot be decoded."""
    return AttemptFailed(
        FailureKind.RENDER, f"Page {page} is a damaged image ({type(error).__name__})."
    )


def image_too_large(width: int, height: int) -> AttemptFailed:
    """The page is an image file with more pixels than we decode."""
    return AttemptFailed(FailureKind.RENDER, f"The image is too large ({width} x {height}).")


def document_not_drawn(error: DocumentRefused) -> AttemptFailed:
    """The document cannot be opened for this page."""
    return AttemptFailed(FailureKind.RENDER, error.info.message)


def reader_cannot_start() -> AttemptFailed:
    """No process that reads documents comes to life; neither document nor page is to blame."""
    return AttemptFailed(FailureKind.BUG, "The process that reads documents cannot start.")


# --- the answer ----------------------------------------------------------------------------


def answer_malformed(problem: str) -> AttemptFailed:
    """The vendor's answer has no form that we know."""
    return AttemptFailed(FailureKind.BAD_BODY, problem)


def model_declined(why: str) -> AttemptFailed:
    """The model refused the content of the page."""
    return AttemptFailed(FailureKind.CONTENT, f"The model declined: {why}.")


def answer_loops() -> AttemptFailed:
    """The answer repeats itself beyond what a page can hold."""
    return AttemptFailed(FailureKind.OUTPUT, "The answer goes in circles.")


def answer_cut_off() -> AttemptFailed:
    """The answer ended at a limit of tokens."""
    return AttemptFailed(FailureKind.OUTPUT, "The answer was cut off.")


def answer_too_large(allowed: int) -> AttemptFailed:
    """The answer, unpacked, has more bytes than any page needs; perhaps it never ends."""
    return AttemptFailed(FailureKind.BAD_BODY, f"The answer has over {allowed:,} bytes.")


def answer_too_long(chars: int, allowed: int) -> AttemptFailed:
    """The answer is longer than the cap on its tokens allows."""
    return AttemptFailed(
        FailureKind.BAD_BODY,
        f"The answer has {chars:,} characters, which is more than {allowed:,}: the cap on its"
        " length was ignored.",
    )


def answer_packed(packing: str) -> AttemptFailed:
    """The answer is compressed in a way that we did not ask for."""
    return AttemptFailed(
        FailureKind.BAD_BODY, f"The answer is compressed in an unknown way ({packing[:40]!r})."
    )


def answer_empty() -> AttemptFailed:
    """The answer has no text."""
    return AttemptFailed(FailureKind.BAD_BODY, "The answer was empty.")


def answer_unrelated(route: str, wasted: Paid) -> AttemptFailed:
    """The page has a text layer that is surely a text, and the answer has none of its words: the
    model followed what is written on the page, or answered for another one."""
    message = f"{route}: The answer has nothing to do with the text layer of the page."
    return AttemptFailed(FailureKind.OUTPUT, message, wasted=wasted)


def page_unreadable(route: str, why: str) -> AttemptFailed:
    """An engine that says how sure it is has not read the page."""
    return AttemptFailed(FailureKind.UNREADABLE, f"{route}: The page cannot be read: {why}.")


# --- the call ------------------------------------------------------------------------------


def vendor_redirects(status: int) -> AttemptFailed:
    """The vendor's address leads elsewhere. Neither the page nor the key may go there."""
    return AttemptFailed(
        FailureKind.CONNECT,
        f"It redirects ({status}) to another address, to which neither page nor key is sent.",
    )


def ocr_failed(kind: str, why: str) -> AttemptFailed:
    """The local engine reports that it could not read the page."""
    return AttemptFailed(FailureKind(kind), f"{why}.")


def ocr_process_died(route: str) -> AttemptFailed:
    """The local engine's process ended in the middle of the page."""
    return AttemptFailed(FailureKind.SERVER, f"{route}: the engine's process died.")


def call_failed(
    kind: FailureKind,
    line: str,
    *,
    retry_after_s: float | None = None,
    wasted: Paid = NOTHING,
    http_status: int | None = None,
) -> AttemptFailed:
    """A vendor's call failed; the line has the vendor's own words, without secrets."""
    return AttemptFailed(
        kind, line, retry_after_s=retry_after_s, wasted=wasted, http_status=http_status
    )


def answer_refused(route: str, error: AttemptFailed, wasted: Paid) -> AttemptFailed:
    """The same failure with its route and with what the vendor billed."""
    return AttemptFailed(error.kind, f"{route}: {error.info.message}", wasted=wasted)


def attempt_broke(error: Exception) -> AttemptFailed:
    """A fault in Quire ended the attempt."""
    return AttemptFailed(FailureKind.BUG, f"{type(error).__name__} inside the attempt.")
