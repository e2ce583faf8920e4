"""What a call can say about a document, and how it is written."""

import difflib
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypedDict

from pydantic import ValidationError

from quire.contracts.document import DocumentRequest, ReadingMode
from quire.contracts.page_ranges import parse_pages
from quire.domain.errors import UsageError
from quire.domain.page_ranges import format_pages
from quire.domain.units import parse_duration
from quire.jobs.job_id import check_job_id, new_job_id

Pages = str | int | Iterable[int]
Duration = str | float | timedelta


class EstimateOptions(TypedDict, total=False):
    """Options of an estimate; all of them may be left out."""

    # Only these pages: "1-5,9", a number, or numbers such as range(1, 6).
    pages: Pages | None
    # The provider whose models come first: openai, anthropic, an extra provider, or local.
    engine: str | None
    # Instructions, added to the rules of transcription.
    prompt: str
    # Opens a locked PDF.
    password: str | None
    # MuPDF's text only; no model is called.
    text_only: bool
    # The document's name in lists, for a source that has none.
    name: str | None


class Options(EstimateOptions, total=False):
    """Options of a document; all of them may be left out."""

    tier: Literal["primary", "secondary", "fast"]
    # Time for the whole document: "3m", seconds, or a timedelta.
    deadline: Duration | None
    # How pages wait for vendors that fail; the worker's setting without it.
    mode: ReadingMode | None
    # Every page by one model, as long as that one is well.
    one_model: bool
    # The job's id. A job that runs or is done under this id is used, not started again; it is
    # bound to its request, and refused for another one (`JobConflict`).
    job_id: str | None
    # The owner of the job.
    user: str
    # Read the document again although its result is stored.
    force: bool
    # With `force`: also when the job is running, which then ends.
    replace: bool


class ListOptions(TypedDict, total=False):
    """Filters of a list; all of them may be left out."""

    # running, completed, failed or terminated.
    status: str | None
    # Only this owner's.
    user: str | None
    # Only documents with pages that no model read.
    fallback: bool
    # Only documents with pages of whose text little can be believed.
    doubtful: bool
    # Only those started within this time: "2h", seconds, or a timedelta.
    since: Duration | None
    # At most this many; 20 if it is left out.
    limit: int
    # A row for every run of a job, and not only for its latest.
    runs: bool


def make_request(options: Options) -> DocumentRequest:
    """The request for a document, whose origin is not known yet."""
    refuse_unknown(options, Options)
    if options.get("replace") and not options.get("force"):
        raise UsageError("replace: it goes with force=True.", _SEE)
    job_id = options.get("job_id")
    if job_id is not None:
        check_job_id(job_id, "job_id")
    try:
        return DocumentRequest(
            job_id=job_id or new_job_id(),
            source="",
            user_id=options.get("user", ""),
            engine=options.get("engine"),
            tier=options.get("tier", "primary"),
            instructions=options.get("prompt", ""),
            text_only=options.get("text_only", False),
            deadline_s=seconds_of("deadline", options.get("deadline")),
            pages=page_list(options.get("pages")),
            mode=options.get("mode"),
            one_model=options.get("one_model", False),
            force=options.get("force", False),
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{first['loc'][0]}: {first['msg']}.", _SEE) from None


def make_estimate_request(options: EstimateOptions) -> DocumentRequest:
    """The request of an estimate."""
    refuse_unknown(options, EstimateOptions)
    whole: Options = {"job_id": "estimate"}
    whole.update(options)  # type: ignore[typeddict-item]
    return make_request(whole)


def page_list(pages: Pages | None) -> str | None:
    """Pages as requests write them: `1-5,9`."""
    if pages is None:
        return None
    try:
        spec = pages if isinstance(pages, str) else format_pages(_numbers(pages))
        parse_pages(spec)
    except ValueError as error:
        raise UsageError(f"pages: {error}.", "Write them as '1-5,9' or as numbers.") from None
    return spec


def _numbers(pages: int | Iterable[int]) -> list[int]:
    numbers = [pages] if isinstance(pages, int) else sorted(set(pages))
    if not numbers or numbers[0] < 1:
        raise ValueError("they begin with 1")
    return numbers


def seconds_of(name: str, value: Duration | None) -> float | None:
    """A time such as 3m, in seconds."""
    if value is None:
        return None
    if isinstance(value, timedelta):
        return value.total_seconds()
    try:
        return parse_duration(value) if isinstance(value, str) else float(value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name} {value!r} is not {error}.", _SEE) from None


_SEE = "See docs/python.md for what a call takes."


def refuse_unknown(options: Mapping[str, Any], kind: type) -> None:
    """Refuse a misspelt option, as Python does for arguments, with the nearest name."""
    known = kind.__annotations__
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")
