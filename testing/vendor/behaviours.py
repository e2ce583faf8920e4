"""What the stand-in vendor can do, each named after what a caller suffers.

A behaviour is plain data, so that the same words program a stand-in in this process, in a
script file and over `POST /_control`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Behaviour:
    """One way to treat a request: a name and its options."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **self.options}

    @classmethod
    def from_json(cls, data: dict[str, Any] | str) -> "Behaviour":
        """Build by calling the named function, so that a misspelt option is refused."""
        if isinstance(data, str):
            data = {"name": data}
        options = {key: value for key, value in data.items() if key != "name"}
        if data["name"] not in BEHAVIOURS:
            raise ValueError(f"no behaviour {data['name']!r}; known: {', '.join(BEHAVIOURS)}")
        return BEHAVIOURS[data["name"]](**options)


def vendor_answers(text: str | None = None, cached: int = 0) -> Behaviour:
    """A good answer; without a text, the stand-in's own words for the request.

    In a text `{image}` stands for the fingerprint of the page's picture, which shows
    for which page an answer is.
    `cached` of the input tokens are said to come from the vendor's cache.
    """
    return Behaviour("vendor_answers", {"text": text, "cached": cached})


def vendor_answers_late(seconds: float, text: str | None = None) -> Behaviour:
    return Behaviour("vendor_answers_late", {"seconds": seconds, "text": text})


def vendor_says_what_is_left(calls: int = 0, reset_s: int = 5) -> Behaviour:
    """A good answer whose headers say how many calls are left, and when all of them are again."""
    return Behaviour("vendor_says_what_is_left", {"calls": calls, "reset_s": reset_s})


def vendor_rate_limits(retry_after: float | str | None = None, ms: bool = False) -> Behaviour:
    """429; `retry_after` goes into the header as it is (seconds or a date; `ms`: milliseconds)."""
    return Behaviour("vendor_rate_limits", {"retry_after": retry_after, "ms": ms})


def vendor_out_of_quota(status: int | None = None) -> Behaviour:
    """OpenAI: 429 `insufficient_quota`; Anthropic: 400 with words only. Or any status, as 402."""
    return Behaviour("vendor_out_of_quota", {"status": status})


def vendor_fails(
    status: int = 500,
    message: str | None = None,
    code: str | None = None,
    param: str | None = None,
    retry_after: float | str | None = None,
) -> Behaviour:
    """Any status, with OpenAI's `code` and `param` if given."""
    return Behaviour(
        "vendor_fails",
        {
            "status": status,
            "message": message,
            "code": code,
            "param": param,
            "retry_after": retry_after,
        },
    )


def vendor_overloads() -> Behaviour:
    return Behaviour("vendor_overloads")


def vendor_refuses_key() -> Behaviour:
    """401, and as some vendors do it repeats the key in its message."""
    return Behaviour("vendor_refuses_key")


def vendor_echoes_secrets(status: int = 400, page: bool = True) -> Behaviour:
    """Any status, with the key in its message and, if `page`, the page's context: as gateways
    do that dump the request."""
    return Behaviour("vendor_echoes_secrets", {"status": status, "page": page})


def vendor_forbids() -> Behaviour:
    return Behaviour("vendor_forbids")


def vendor_lacks_model() -> Behaviour:
    return Behaviour("vendor_lacks_model")


def vendor_rejects_page() -> Behaviour:
    return Behaviour("vendor_rejects_page")


def vendor_finds_image_too_large() -> Behaviour:
    return Behaviour("vendor_finds_image_too_large")


def vendor_hangs(after_headers: bool = False) -> Behaviour:
    """Takes the request and never says a word (or only the headers)."""
    return Behaviour("vendor_hangs", {"after_headers": after_headers})


def vendor_drips(every: float = 0.05, seconds: float | None = None) -> Behaviour:
    """A blank at a time, so that no read times out; answers after `seconds`, or never."""
    return Behaviour("vendor_drips", {"every": every, "seconds": seconds})


def vendor_cuts_connection(midway: bool = False) -> Behaviour:
    """Resets the connection instead of answering, or in the middle of the answer."""
    return Behaviour("vendor_cuts_connection", {"midway": midway})


def vendor_sends_html(status: int = 200) -> Behaviour:
    """A gateway's page where JSON was due."""
    return Behaviour("vendor_sends_html", {"status": status})


def vendor_sends_error_body(billed: bool = False) -> Behaviour:
    """200 with an error in it; `billed`: a gateway that lost the answer says what it took."""
    return Behaviour("vendor_sends_error_body", {"billed": billed})


def vendor_sends_broken_json() -> Behaviour:
    return Behaviour("vendor_sends_broken_json")


def vendor_answers_empty() -> Behaviour:
    return Behaviour("vendor_answers_empty")


def vendor_truncates(below: int | None = None, text: str | None = None) -> Behaviour:
    """Stops at the caller's cap: always, or only while the cap is smaller than `below`."""
    return Behaviour("vendor_truncates", {"below": below, "text": text})


def vendor_refuses(filtered: bool = False) -> Behaviour:
    """The model declines; `filtered`: OpenAI's content filter stops it instead."""
    return Behaviour("vendor_refuses", {"filtered": filtered})


def vendor_loops() -> Behaviour:
    return Behaviour("vendor_loops")


def vendor_never_ends(status: int = 200, headers: bool = False) -> Behaviour:
    """Sends a body (or `headers`) for as long as anyone listens, as fast as they do."""
    return Behaviour("vendor_never_ends", {"status": status, "headers": headers})


def vendor_sends_bomb(megabytes: int = 1024, packing: str = "gzip") -> Behaviour:
    """A small body that unpacks to so much; `packing` is what its header says."""
    return Behaviour("vendor_sends_bomb", {"megabytes": megabytes, "packing": packing})


def vendor_redirects(location: str = "http://127.0.0.1:9/", status: int = 307) -> Behaviour:
    """Sends the caller, with the page and the key, to another address."""
    return Behaviour("vendor_redirects", {"location": location, "status": status})


def vendor_sends_surrogates(text: str = "Total\ud800 \x0017\x1b[31m\x85 EUR\uffff") -> Behaviour:
    """A good answer but for characters that no file, terminal or database can take."""
    return Behaviour("vendor_sends_surrogates", {"text": text})


def vendor_ignores_cap(chars: int = 200_000) -> Behaviour:
    """Writes on and on, and says that it came to its end."""
    return Behaviour("vendor_ignores_cap", {"chars": chars})


def vendor_sends_json_beyond_reason(body: str = "[") -> Behaviour:
    """JSON that breaks parsers: `[`, nested a hundred thousand deep, or a number as long."""
    return Behaviour("vendor_sends_json_beyond_reason", {"body": body})


BEHAVIOURS: dict[str, Callable[..., Behaviour]] = {
    build.__name__: build
    for build in (
        vendor_answers,
        vendor_answers_late,
        vendor_says_what_is_left,
        vendor_rate_limits,
        vendor_out_of_quota,
        vendor_fails,
        vendor_overloads,
        vendor_refuses_key,
        vendor_echoes_secrets,
        vendor_forbids,
        vendor_lacks_model,
        vendor_rejects_page,
        vendor_finds_image_too_large,
        vendor_hangs,
        vendor_drips,
        vendor_cuts_connection,
        vendor_sends_html,
        vendor_sends_error_body,
        vendor_sends_broken_json,
        vendor_answers_empty,
        vendor_truncates,
        vendor_refuses,
        vendor_loops,
        vendor_never_ends,
        vendor_sends_bomb,
        vendor_redirects,
        vendor_sends_surrogates,
        vendor_ignores_cap,
        vendor_sends_json_beyond_reason,
    )
}
