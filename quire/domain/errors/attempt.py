"""The kinds of failed attempts at a page, and what each means for the page and the route."""

from typing import Literal, NamedTuple

from quire.contracts.codes import Code, ErrorType, FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.domain.errors.tree import QuireError


class Meaning(NamedTuple):
    """What a kind of failure means.

    `bars` is what the page does not try again, `trips` whose breaker counts the failure, `rests`
    how long that breaker stays open.
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
        "The vendor cannot read this page: look at the page itself.",
    ),
    FailureKind.IMAGE_SIZE: Meaning(
        Code.TOO_LARGE,
        "terminal",
        "every_route",
        None,
        "backoff",
        "The page image is too large even at a smaller scale: lower IMAGE_DPI.",
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
        "The vendor declined the content of this page: another vendor may read it.",
    ),
    FailureKind.OUTPUT: Meaning(
        Code.GW_5XX,
        "retryable",
        "route",
        None,
        "backoff",
        "The answer was cut off, repeats itself or is of another page: retry on another model.",
    ),
    FailureKind.UNREADABLE: Meaning(
        Code.GW_4XX,
        "terminal",
        "route",
        None,
        "backoff",
        "OCR cannot read this page: look at the page itself, or have a vision model read it.",
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

    `wasted` is what the vendor billed although it failed, `http_status` the vendor's answer.
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


# The lines of docs/errors.md: the meaning, and what Quire does.
DESCRIBED: dict[FailureKind, tuple[str, str]] = {
    FailureKind.RATE: ("the vendor limits the rate", "next route; the route rests"),
    FailureKind.QUOTA: ("the account has no credit left", "the provider rests for long"),
    FailureKind.AUTH: (
        "the vendor refused the key (exit 2 when the engine was asked for by name and has no key)",
        "the provider rests for long",
    ),
    FailureKind.MODEL: ("the vendor does not know the model", "the route rests for long"),
    FailureKind.REQUEST: ("the vendor cannot read this page", "the page falls back"),
    FailureKind.CONTENT: ("the vendor declined the content", "another provider"),
    FailureKind.IMAGE_SIZE: (
        "the image is too large, even at a smaller scale",
        "the page falls back",
    ),
    FailureKind.TIMEOUT: ("no answer in time", "next route; counts against it"),
    FailureKind.SERVER: ("the vendor failed", "next route; counts against it"),
    FailureKind.CONNECT: (
        "the vendor could not be reached",
        "next provider; counts against it",
    ),
    FailureKind.BAD_BODY: ("the answer cannot be understood", "next route; counts against it"),
    FailureKind.OUTPUT: (
        "the answer was cut off, repeats itself, or has nothing to do with the page's text layer",
        "next route",
    ),
    FailureKind.UNREADABLE: (
        "OCR found no words on the page, or is sure of hardly any: it is turned, illegible, a "
        "picture, or in a script that the engine does not read",
        "another route; else the page falls back",
    ),
    FailureKind.RENDER: ("the page cannot be drawn", "the page falls back"),
    FailureKind.STORAGE: (
        "the store failed again and again, or a folder that a setting names cannot be used",
        "the page falls back; for a whole document: check space and permissions",
    ),
    FailureKind.BUG: ("a fault in Quire (exit 1)", "next route; please report it"),
}
