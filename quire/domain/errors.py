"""Every failure Quire knows, as one tree and two tables.

QuireError                     code, reason, error_type, message, remedy
├── DocumentRefused            there is no document to read: the job fails
├── JobError                   the job itself: not found, not yours, not ready, source gone
├── SettingsError              a setting is unknown or impossible: refused at start
└── AttemptFailed              one attempt at one page on one route failed
                               (its FailureKind says what that means for page and route)

The public codes are the only ones a person or a program ever sees. What a vendor's
failure means is data (`MEANING`), so that no caller decides by the text of a message.
"""

from typing import Literal, NamedTuple, Self

from quire.contracts.codes import Code, ErrorInfo, ErrorType, FailureKind
from quire.contracts.money import NOTHING, Paid


class QuireError(Exception):
    """The root of the tree; carries the public face of the failure."""

    def __init__(
        self,
        code: Code,
        reason: str,
        message: str,
        remedy: str,
        error_type: ErrorType = "terminal",
    ) -> None:
        super().__init__(message)
        self.info = ErrorInfo(
            code=code, reason=reason, error_type=error_type, message=message, remedy=remedy
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders; the default would pass only the message on.
        return (type(self).from_info, (self.info,))

    @classmethod
    def from_info(cls, info: ErrorInfo) -> Self:
        """The error of this class with that public face, as it came over a border."""
        error = cls.__new__(cls)
        Exception.__init__(error, info.message)
        error.info = info
        return error


class DocumentRefused(QuireError):
    """There is no document: not a PDF or image, too large, locked, or its source is gone."""


class JobError(QuireError):
    """The job cannot be touched as asked: unknown, not the caller's, not ready, expired."""


class SettingsError(QuireError):
    """A setting is unknown or impossible."""

    def __init__(self, name: str, problem: str, allowed: str) -> None:
        super().__init__(Code.UNKNOWN, "SETTING", f"{name}: {problem}.", f"Allowed: {allowed}.")


class Meaning(NamedTuple):
    """What a kind of failure means.

    `bars` is what the page never tries again; `trips` is whose breaker counts it;
    `rests` is how long that breaker stays open.
    """

    code: Code
    error_type: ErrorType
    bars: Literal["route", "provider", "every_route"]
    trips: Literal["route", "provider"] | None
    rests: Literal["backoff", "long"]
    remedy: str


_WAIT = "Retry the page later; other routes were tried."
MEANING: dict[FailureKind, Meaning] = {
    FailureKind.RATE: Meaning(
        Code.GW_4XX,
        "retryable",
        "route",
        "route",
        "backoff",
        "The vendor limits the rate: retry later, or raise the limit there.",
    ),
    FailureKind.QUOTA: Meaning(
        Code.GW_4XX,
        "terminal",
        "provider",
        "provider",
        "long",
        "The vendor account has no credit left: top it up, then retry the pages.",
    ),
    FailureKind.AUTH: Meaning(
        Code.GW_4XX,
        "terminal",
        "provider",
        "provider",
        "long",
        "The vendor refused the API key: check the key and its permissions.",
    ),
    FailureKind.MODEL: Meaning(
        Code.GW_4XX,
        "terminal",
        "route",
        "route",
        "long",
        "The vendor does not know this model: correct the model's name.",
    ),
    FailureKind.REQUEST: Meaning(
        Code.GW_4XX,
        "terminal",
        "every_route",
        None,
        "backoff",
        "The vendor cannot take this page: look at the page itself.",
    ),
    FailureKind.IMAGE_SIZE: Meaning(
        Code.TOO_LARGE,
        "terminal",
        "every_route",
        None,
        "backoff",
        "The page image is too large even when smaller: lower IMAGE_DPI.",
    ),
    FailureKind.TIMEOUT: Meaning(
        Code.GW_TIMEOUT,
        "retryable",
        "route",
        "route",
        "backoff",
        "The vendor did not answer in time: retry later or raise REQUEST_TIMEOUT.",
    ),
    FailureKind.SERVER: Meaning(Code.GW_5XX, "retryable", "route", "route", "backoff", _WAIT),
    FailureKind.CONNECT: Meaning(
        Code.GW_5XX,
        "retryable",
        "provider",
        "provider",
        "backoff",
        "The vendor could not be reached: check the network and the base URL.",
    ),
    FailureKind.BAD_BODY: Meaning(Code.GW_5XX, "retryable", "route", "route", "backoff", _WAIT),
    FailureKind.CONTENT: Meaning(
        Code.GW_4XX,
        "terminal",
        "provider",
        None,
        "backoff",
        "The vendor declined the content of this page: another vendor may take it.",
    ),
    FailureKind.OUTPUT: Meaning(
        Code.GW_5XX,
        "retryable",
        "route",
        None,
        "backoff",
        "The answer was cut off or went in circles: retry on another model.",
    ),
    FailureKind.RENDER: Meaning(
        Code.IO_ERROR,
        "terminal",
        "every_route",
        None,
        "backoff",
        "The page cannot be drawn: repair or re-export the document.",
    ),
    FailureKind.STORAGE: Meaning(
        Code.IO_ERROR,
        "retryable",
        "every_route",
        None,
        "backoff",
        "The store failed again and again: check its space and permissions, then retry.",
    ),
    FailureKind.BUG: Meaning(
        Code.UNKNOWN,
        "retryable",
        "route",
        None,
        "backoff",
        "This is a fault in Quire: please report it with the worker's log.",
    ),
}


class AttemptFailed(QuireError):
    """One attempt at a page failed; `kind` says what that means.

    `wasted` is what the vendor billed for it all the same, `http_status` what it answered with.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        retry_after_s: float | None = None,
        wasted: Paid = NOTHING,
        http_status: int | None = None,
    ) -> None:
        meaning = MEANING[kind]
        super().__init__(meaning.code, kind.value, message, meaning.remedy, meaning.error_type)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.wasted = wasted
        self.http_status = http_status

    def __reduce__(self) -> tuple[object, ...]:
        facts = (self.retry_after_s, self.wasted, self.http_status)
        return (_revive_attempt, (self.kind, self.info.message, *facts))


def _revive_attempt(
    kind: FailureKind,
    message: str,
    retry_after_s: float | None,
    wasted: Paid,
    http_status: int | None,
) -> AttemptFailed:
    return AttemptFailed(
        kind, message, retry_after_s=retry_after_s, wasted=wasted, http_status=http_status
    )
