"""Turns whatever a vendor's call raised into `AttemptFailed`.

What an exception means stands in its vendor's file, or in the common table beside this one.
"""

import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from json import JSONDecodeError
from typing import Any

from quire.contracts.codes import FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.domain import errors
from quire.domain.errors import AttemptFailed
from quire.providers.clean_text import clean_text
from quire.providers.error_table import BY_STATUS, COMMON
from quire.providers.registry import PROVIDERS

LONGEST_RETRY_AFTER_S = 3600.0
_LONGEST_MESSAGE = 200
# Two texts share so many letters in a row only if one quotes the other.
_QUOTED_LETTERS = 12

_SECRETS = re.compile(
    r"((authorization|x-api-key)\W*)?\bbearer\s+\S+|(authorization|x-api-key)\W+\S+"
    r"|\bsk-[\w*.-]{4,}|[\w+/=-]{41,}",
    re.I,
)


def attempt_failed(
    error: Exception,
    who: str,
    secrets: Iterable[str] = (),
    asked: str = "",
    wasted: Paid = NOTHING,
) -> AttemptFailed:
    """Turn whatever a call raised into the one error the rest of Quire knows.

    Its message goes into histories and results, which `secrets` and what was `asked` must not.
    """
    # The SDKs wrap what is raised while a body is read.
    ours = error if isinstance(error, AttemptFailed) else error.__cause__
    if isinstance(ours, AttemptFailed):
        return errors.answer_refused(who, ours, wasted)
    kind = classify(error)
    response = getattr(error, "response", None)
    headers: Mapping[str, str] = getattr(response, "headers", {})
    return errors.call_failed(
        kind,
        _line(error, kind, who, secrets, asked),
        retry_after_s=retry_after(headers, time.time()),
        wasted=wasted,
        http_status=getattr(error, "status_code", None),
    )


def classify(error: Exception) -> FailureKind:
    """What an error means; an unforeseen one is our own bug.

    Its most specific class decides: a timeout is never taken for the connection error it
    derives from.
    """
    tables = exception_tables()
    for cls in type(error).__mro__:
        table = tables.get(cls.__module__.partition(".")[0], {})
        if cls.__name__ in table:
            return table[cls.__name__] or _by_code_or_status(error)
    return FailureKind.BUG


def exception_tables() -> dict[str, Mapping[str, FailureKind | None]]:
    """What exceptions mean, by the top package of their class."""
    failures = [spec.failures for spec in PROVIDERS.values()]
    return {**COMMON, **{known.package: known.exceptions for known in failures}}


def _by_code_or_status(error: Any) -> FailureKind:
    """By what any vendor means by it: a gateway passes on the codes of the vendor behind it."""
    failures = [spec.failures for spec in PROVIDERS.values()]
    for name in ("error_code", "code", "type"):
        code = getattr(error, name, None)
        for known in failures:
            if isinstance(code, str) and code in known.codes:
                return known.codes[code]
    if error.status_code == 400:
        for pattern, kind in (entry for known in failures for entry in known.messages):
            if re.search(pattern, _vendor_words(error), re.I):
                return kind
    return BY_STATUS.get(error.status_code, FailureKind.SERVER)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the vendor asks us to wait, in any of its spellings; capped, since some say days.

    0, and a moment that is over, ask for no wait: they count as absent, as what is no number does.
    """
    asked = (
        _number(headers.get("retry-after-ms"), 0.001),
        _number(headers.get("retry-after"), 1.0),
        _moment(headers.get("retry-after"), now),
    )
    seconds = next((each for each in asked if each is not None and each > 0), None)
    return None if seconds is None else min(seconds, LONGEST_RETRY_AFTER_S)


def _number(value: str | None, unit: float) -> float | None:
    try:
        return None if value is None else float(value) * unit
    except ValueError:
        return None


def _moment(value: str | None, now: float) -> float | None:
    try:
        return None if value is None else parsedate_to_datetime(value).timestamp() - now
    except ValueError:
        return None


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """One short line without keys, credentials, image data or controls."""
    text = clean_text(text)
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    text = " ".join(_SECRETS.sub("***", text).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def quotes(said: str, asked: str) -> bool:
    """Whether the words repeat the prompt: a page's context, or a person's instructions."""
    said, asked = _letters(said), _letters(asked)
    places = range(len(said) - _QUOTED_LETTERS + 1)
    return any(said[place : place + _QUOTED_LETTERS] in asked for place in places)


def _letters(text: str) -> str:
    """What two spellings of one text have in common, escaped or not."""
    return re.sub(r"\\[nrt]|\W+", " ", text).casefold()


def _line(error: Any, kind: FailureKind, who: str, secrets: Iterable[str], asked: str) -> str:
    status, request_id = getattr(error, "status_code", None), getattr(error, "request_id", None)
    if kind is FailureKind.TIMEOUT and status is None:
        return f"{who} did not answer in time."
    if isinstance(error, JSONDecodeError | UnicodeDecodeError):
        return f"{who} answered 200 with broken JSON."
    if status is not None:
        what, words = str(status), _vendor_words(error)
    else:
        what, words = _beneath(error)
    if kind is FailureKind.BUG:
        words = ""  # An unforeseen error: its words may hold anything.
    words = scrub(words, secrets)
    if quotes(words, asked):
        words = "words that repeat the question"
    line = f"{who}: {what}: {words}".rstrip(" :")
    return f"{line} [{scrub(request_id, secrets)}]" if isinstance(request_id, str) else line


def _beneath(error: BaseException) -> tuple[str, str]:
    """The nearest words below an error of which the SDK only says "Connection error."."""
    cause: BaseException | None = error.__cause__ or error
    name = type(cause).__name__
    while cause is not None:
        # The system's own words: the whole text would name a file.
        words = cause.strerror if isinstance(cause, OSError) else str(cause)
        if words:
            return name, words
        cause = cause.__cause__ or cause.__context__
    return name, ""


def _vendor_words(error: Any) -> str:
    """The vendor's own sentence, without the SDK's dump of the whole body around it."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    return "an answer without a reason"
