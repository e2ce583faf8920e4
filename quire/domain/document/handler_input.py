"""What people send to a running document, whatever it is, as a request; or why it is none.

Signals, updates and queries come from any client, by hand or from another version: a handler that
cannot take its input would fail its workflow task, again and again.
"""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from quire.contracts.codes import ErrorInfo
from quire.contracts.document import CancelRequest, RetryRequest
from quire.contracts.page_ranges import parse_pages
from quire.contracts.status import PageRange
from quire.domain import errors

# Every second page of the longest document fits.
LONGEST_PAGES = 50_000
_PAGES = "its pages are not a list such as 3,5-7"
_RANGE = "its pages are not one range such as 1-20"
_M = TypeVar("_M", bound=BaseModel)


class _Unclear(ValueError):
    """The words say what is wrong, and nothing of what was sent."""


def parse_retry(given: Sequence[object]) -> RetryRequest | ErrorInfo:
    """Pages to read again: {"user_id": ..., "pages": "3,5-7"}, or the pages alone as text, number
    or list, or nothing for all that are degraded."""
    try:
        match _only(given):
            case None | "":
                return RetryRequest()
            case dict() as fields:
                pages = fields.get("pages")
                named = None if pages is None else _page_list(pages)
                return _validated(RetryRequest, {**fields, "pages": named}, _PAGES)
            case RetryRequest() as request:
                return request
            case pages:
                return _validated(RetryRequest, {"pages": _page_list(pages)}, _PAGES)
    except _Unclear as problem:
        return errors.bad_input(str(problem)).info


def parse_cancel(given: Sequence[object]) -> CancelRequest | ErrorInfo:
    """Who wants the document to stop: {"user_id": ...}, or the name alone, or nothing."""
    try:
        match _only(given):
            case None:
                return CancelRequest()
            case dict() as fields:
                return _validated(CancelRequest, fields, "its user_id is not a text")
            case CancelRequest() as request:
                return request
            case str() as name:
                return CancelRequest(user_id=name)
            case _:
                raise _Unclear('it is not an object such as {"user_id": "anna"}')
    except _Unclear as problem:
        return errors.bad_input(str(problem)).info


def parse_range(given: Sequence[object]) -> PageRange | ErrorInfo:
    """A range of pages: {"first": 1, "last": 20}, or "1-20", or 7, or [1, 20], or nothing."""
    try:
        match _only(given):
            case None | "":
                return PageRange()
            case dict() as fields:
                return _validated(PageRange, fields, _RANGE)
            case PageRange() as wanted:
                return wanted
            case [first, last]:
                return _validated(PageRange, {"first": first, "last": last}, _RANGE)
            case [one] | one:
                return _one_range(_page_list(one))
    except _Unclear as problem:
        return errors.bad_input(str(problem)).info


def _only(given: Sequence[object]) -> object:
    """The one input, if there is any."""
    if len(given) > 1:
        raise _Unclear(f"{len(given)} inputs came, and one is expected")
    return given[0] if given else None


def _page_list(pages: object) -> str:
    """A list of pages as people write it, from text, a number, or a list of these."""
    if isinstance(pages, list | tuple):
        if not pages or any(isinstance(part, list | tuple) for part in pages):
            raise _Unclear(_PAGES)
        pages = ",".join(map(_page_list, pages))
    if isinstance(pages, int) and not isinstance(pages, bool):
        pages = _digits(pages)
    if not isinstance(pages, str) or len(pages) > LONGEST_PAGES:
        raise _Unclear(_PAGES)
    return pages


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:  # Python writes no number of thousands of digits
        raise _Unclear(_PAGES) from None


def _one_range(spec: str) -> PageRange:
    try:
        ((first, last),) = parse_pages(spec)
    except ValueError:
        raise _Unclear(_RANGE) from None
    return PageRange(first=first) if last is None else PageRange(first=first, last=last)


def _validated(model: type[_M], fields: dict[object, object], problem: str) -> _M:
    """The fields as a request. What is null has its default; a number may stand for a name."""
    unknown = [name for name in fields if name not in model.model_fields]
    if unknown:
        known = ", ".join(model.model_fields)
        raise _Unclear(f"it has a field that is not one of {known}")
    present = {str(name): value for name, value in fields.items() if value is not None}
    name = present.get("user_id")
    if isinstance(name, int) and not isinstance(name, bool):
        present["user_id"] = _digits(name)
    try:
        return model.model_validate(present)
    except ValidationError as error:
        about_name = any(details["loc"][:1] == ("user_id",) for details in error.errors())
        raise _Unclear("its user_id is not a text" if about_name else problem) from None
