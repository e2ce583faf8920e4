"""Pages of whose text little can be believed."""

from quire.contracts.page import TextSource

# A shorter time before the deadline is too short for a second reading.
TIME_TO_READ_AGAIN_S = 15.0


def is_doubtful(source: TextSource, confidence: float | None, below: float | None) -> bool:
    """Whether so little of the page's text can be believed; a degraded page is not even read."""
    if source.degraded or confidence is None or below is None:
        return False
    return confidence < below
