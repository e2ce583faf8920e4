"""Why a page ended without a model's text, and attempts that ended without their worker's word.

Their words become part of records; a change to them is a change to new histories alone.
"""

from collections.abc import Sequence

from quire.contracts.codes import Code, FailureKind
from quire.contracts.page import PageError
from quire.contracts.steps import AttemptFailure
from quire.domain.errors.attempt import MEANING


def page_too_late() -> PageError:
    """The deadline passed first."""
    return PageError(
        error="The document's deadline passed before this page was read.",
        code=Code.GW_TIMEOUT,
        error_type="retryable",
    )


def page_called_off() -> PageError:
    """The document was cancelled first."""
    return PageError(
        error="The document was cancelled before this page was read.",
        code=Code.NOT_READY,
        error_type="retryable",
    )


def page_read_by_ocr() -> PageError:
    """Vendors had failed, in a run that did not write down how."""
    return PageError(
        error="Local OCR read this page, since no vendor's model did.",
        code=Code.GW_5XX,
        error_type="retryable",
    )


def page_answer_lost() -> PageError:
    """A model read the page, and its answer is gone from the store."""
    return PageError(
        error="A model read this page, but its answer is gone from the store, or damaged there.",
        code=Code.IO_ERROR,
        error_type="retryable",
    )


def page_text_lost() -> PageError:
    """The page's survey is gone from the store, and so is the document."""
    return PageError(
        error="The text of this page is gone from the store, and so is the document.",
        code=Code.EXPIRED,
        error_type="terminal",
    )


def no_model_configured() -> PageError:
    """There is no route at all."""
    return PageError(
        error="No model is configured that could read this page.",
        code=Code.GW_4XX,
        error_type="terminal",
    )


def every_route_rests(reasons: Sequence[str]) -> PageError:
    """The breakers keep the page from all its routes, for these kinds of failures."""
    meanings = [MEANING[FailureKind(reason)] for reason in reasons]
    healing = [meaning for meaning in meanings if meaning.error_type == "retryable"]
    first = (healing or meanings or [MEANING[FailureKind.SERVER]])[0]
    return PageError(
        error=f"Every route that could read this page rests after failures "
        f"({', '.join(reasons) or 'none is left'}).",
        code=first.code,
        error_type=first.error_type,
    )


def workers_lost() -> AttemptFailure:
    """No worker that took the attempt stayed alive."""
    return AttemptFailure(
        kind=FailureKind.BUG, message="Workers were lost while they read this page."
    )


def attempt_too_long() -> AttemptFailure:
    """The attempt used up its time."""
    return AttemptFailure(
        kind=FailureKind.TIMEOUT, message="The attempt took longer than it was given."
    )


def attempt_ended_unknown() -> AttemptFailure:
    """The attempt ended in a way that no rule covers."""
    return AttemptFailure(kind=FailureKind.BUG, message="The attempt ended in an unknown way.")
