"""Whether two requests ask for the same text: a job id is bound to what its job was asked.

Settings are no part of it: they are the workers', and a job keeps those that it began with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from quire.contracts.document import DocumentRequest
from quire.contracts.page_ranges import parse_pages
from quire.domain.document.origin import STORED, shown_name

# These do not decide the text. A field that is new decides it, unless it is named here.
NOT_DECIDING = frozenset(
    {"job_id", "source_name", "deadline_s", "mode"}
    | {"force", "sealed_password", "retry", "replaced"}
)
# A signed link is another one each time it is made, and names the same object.
_SIGNED = ("x-amz-", "x-goog-")
_SIGNED_OF_OLD = {"awsaccesskeyid", "googleaccessid", "signature", "expires"}
_EVERYTHING = ((1, None),)


@dataclass(frozen=True)
class Difference:
    """One thing that two requests ask differently, in words for people."""

    name: str
    own: str
    given: str

    def __str__(self) -> str:
        return f"{self.name} {self.own}, not {self.given}"


def differences(own: DocumentRequest, given: DocumentRequest) -> tuple[Difference, ...]:
    """What decides the text and is not the same, in the order of the request's fields."""
    deciding = [name for name in DocumentRequest.model_fields if name not in NOT_DECIDING]
    return tuple(
        Difference(_NAMES.get(name, name), *_in_words(name, own, given))
        for name in deciding
        if not _are_same(name, own, given)
    )


def _are_same(name: str, own: DocumentRequest, given: DocumentRequest) -> bool:
    if name == "source":
        return _same_source(own, given)
    if name == "pages":
        return _ranges(own.pages) == _ranges(given.pages)
    return bool(getattr(own, name) == getattr(given, name))


def _same_source(own: DocumentRequest, given: DocumentRequest) -> bool:
    if own.source.startswith("/") and given.source.startswith(STORED):
        # A job of an older version, or of another client, whose file can no longer be compared.
        return shown_name(own.source).rpartition("/")[2] == given.source_name
    return _bare_link(own.source) == _bare_link(given.source)


def _bare_link(source: str) -> str:
    """A URL without its signature and fragment; anything else as it is."""
    if not source.lower().startswith(("http://", "https://")):
        return source
    try:
        parts = urlsplit(source)
        query = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return source
    names = {name.lower() for name, _ in query}
    of_old = _SIGNED_OF_OLD if "signature" in names else set()
    kept = [
        (name, value)
        for name, value in query
        if not name.lower().startswith(_SIGNED) and name.lower() not in of_old
    ]
    if len(kept) == len(query):
        return source.partition("#")[0]
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(kept), ""))


def _ranges(spec: str | None) -> tuple[tuple[int, int | None], ...]:
    """The pages in the one way to write them: rising, and what touches is joined."""
    joined: list[tuple[int, int | None]] = []
    for first, last in sorted(parse_pages(spec) if spec else _EVERYTHING, key=lambda r: r[0]):
        if joined and (joined[-1][1] is None or first <= joined[-1][1] + 1):
            before, end = joined[-1]
            joined[-1] = (before, None if end is None or last is None else max(end, last))
        else:
            joined.append((first, last))
    return tuple(joined)


# Fields whose options have other names.
_NAMES = {
    "instructions": "prompt",
    "user_id": "user",
    "text_only": "text-only",
    "one_model": "one-model",
}
_Words = Callable[[object], str]
_WORDS: dict[str, _Words] = {
    "engine": lambda engine: str(engine or "the default"),
    "pages": lambda pages: str(pages or "all"),
    "instructions": lambda words: f"{words!r:.60}" if words else "none",
    "text_only": lambda only: "on" if only else "off",
    "one_model": lambda only: "on" if only else "off",
}


def _in_words(name: str, own: DocumentRequest, given: DocumentRequest) -> tuple[str, str]:
    if name == "source":
        mine, other = _source_words(own), _source_words(given)
        return mine, f"{other} with another query" if mine == other else other
    words = _WORDS.get(name, repr)
    return words(getattr(own, name)), words(getattr(given, name))


def _source_words(request: DocumentRequest) -> str:
    """A document by its name and the beginning of its hash, or a URL without its secrets."""
    source = shown_name(request.source)
    if source.startswith(STORED):
        return f"{request.source_name!r} ({source.removeprefix(STORED)[:12]})"
    scheme, separator, rest = source.partition("://")
    if not separator:
        return repr(source)
    place = rest.partition("?")[0].partition("#")[0]
    host, slash, path = place.partition("/")
    return repr(f"{scheme}://{host.rpartition('@')[2]}{slash}{path}")
