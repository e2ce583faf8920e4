"""Names of things in the store. Content decides them, so the same thing is never stored twice."""

import hashlib
import json
from collections.abc import Sequence

from pydantic import BaseModel

from quire.contracts.plan import DocumentPlan
from quire.contracts.reading import ReadingOptions
from quire.contracts.stored import Brief
from quire.domain.page_ranges import format_pages

# Where things are by kind; what else is under the store's root is not the store's.
KINDS = ("sources", "surveys", "answers", "briefs", "finished", "texts")
# Raise when the survey's rules or texts change: older surveys are then made again.
SURVEY_VERSION = 2
# Pages a survey object: few enough objects for long documents, small enough to read for one page.
SURVEY_CHUNK = 25


def source_key(sha256: str) -> str:
    """The document's own bytes."""
    return f"sources/{sha256[:2]}/{sha256}"


def survey_key(sha256: str, chunk: int) -> str:
    """Texts and classifications of `SURVEY_CHUNK` pages."""
    return f"surveys/{sha256[:2]}/{sha256}/v{SURVEY_VERSION}/{chunk:05d}.json"


def chunk_of(page: int) -> int:
    """The survey chunk a page (from 1) is in."""
    return (page - 1) // SURVEY_CHUNK


def chunk_pages(chunk: int, page_count: int) -> tuple[int, int]:
    """First and last page of a chunk."""
    first = chunk * SURVEY_CHUNK + 1
    return first, min(first + SURVEY_CHUNK - 1, page_count)


def reading_id(options: ReadingOptions) -> str:
    """A short name for reading options, part of every answer's key."""
    return _digest(options)


def brief_id(brief: Brief) -> str:
    """A short name for a brief: it stands in every attempt's payload."""
    return _digest(brief)[:16]


def brief_key(brief: str) -> str:
    """The brief of that name."""
    return f"briefs/{brief}.json"


def _digest(model: BaseModel) -> str:
    canonical = json.dumps(model.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def answer_key(
    sha256: str, page: int, reading: str, provider: str, model: str, take: int = 0
) -> str:
    """One page read by one route: text and receipt in one object, so neither exists alone."""
    identity = json.dumps([sha256, page, reading, provider, model, take])
    digest = hashlib.sha256(identity.encode()).hexdigest()
    return f"answers/{sha256[:2]}/{sha256}/{page:06d}-{digest[:32]}.json"


def finished_id(plan: DocumentPlan, pages: Sequence[int], *, text_only: bool) -> str:
    """A short name for all that decides a document's result, besides its bytes.

    A forced run has the same name as a run that is not: its result is the newer truth.
    """
    identity = [
        SURVEY_VERSION,
        reading_id(plan.reading.model_copy(update={"salt": ""})),
        [route.key for route in plan.chain.routes],
        plan.every_page,
        text_only,
        format_pages(pages),
    ]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


def finished_key(sha256: str, finished: str) -> str:
    """The `StoredResult` of a document."""
    return f"finished/{sha256[:2]}/{sha256}/{finished}.json"


def text_key(sha256: str) -> str:
    """A document's text by its own hash: a report names the very text that belongs to it."""
    return f"texts/{sha256[:2]}/{sha256}.txt"


def result_key(job_id: str, name: str, version: int | None = None) -> str:
    """A job's `text.txt` or `result.json`: the newest, or one version of it."""
    return f"{job_id}/{name}" if version is None else f"{job_id}/v{version}/{name}"
