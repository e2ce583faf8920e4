"""Names of things in the store. Content decides them, so the same thing is never stored twice."""

import hashlib
import json
from collections.abc import Sequence

from pydantic import BaseModel

from quire.contracts.judgement import DoubtPolicy
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.plan import DocumentPlan
from quire.contracts.reading import Hyphens, ReadingOptions, TextOptions
from quire.contracts.stored import Brief
from quire.domain.page_ranges import format_pages

# Where things are by kind; what else is under the store's root is not the store's.
KINDS = ("sources", "surveys", "answers", "briefs", "finished", "texts", "quarantine")
# Raise when the survey's rules or texts change: older surveys are then made again.
SURVEY_VERSION = 4
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
    """A short name for reading options, part of every answer's key.

    How text is written that no vendor reads stands at its end: only local answers depend on it.
    """
    name = _digest(options.model_copy(update={"text": TextOptions()}))
    if options.text == TextOptions():
        return name
    return f"{name}-{options.text.version}-{options.text.hyphens}"


def hyphens_of(reading: str) -> Hyphens:
    """What the reading options of this name say of torn words."""
    return "join" if reading.endswith("-join") else "keep"


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
    if provider != LOCAL_PROVIDER:
        reading = reading.partition("-")[0]
    identity = json.dumps([sha256, page, reading, provider, model, take])
    digest = hashlib.sha256(identity.encode()).hexdigest()
    return f"answers/{sha256[:2]}/{sha256}/{page:06d}-{digest[:32]}.json"


def finished_id(plan: DocumentPlan, pages: Sequence[int], *, text_only: bool) -> str:
    """A short name for all that decides a document's result, besides its bytes.

    A forced run has the same name as a run that is not: its result is the newer truth.
    """
    identity: list[object] = [
        SURVEY_VERSION,
        reading_id(plan.reading.model_copy(update={"salt": ""})),
        [route.key for route in plan.chain.routes],
        plan.every_page,
        text_only,
        format_pages(pages),
    ]
    if plan.doubt not in (None, DoubtPolicy()):
        identity.append(plan.doubt.model_dump(mode="json"))
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


def finished_key(sha256: str, finished: str) -> str:
    """The `StoredResult` of a document."""
    return f"finished/{sha256[:2]}/{sha256}/{finished}.json"


def text_key(sha256: str) -> str:
    """A document's text by its own hash: a report names the very text that belongs to it."""
    return f"texts/{sha256[:2]}/{sha256}.txt"


def document_of(key: str) -> str:
    """Whose object this is: a document's hash; for briefs and texts, their own name."""
    kind, *parts = key.split("/")
    if kind in ("briefs", "texts"):
        return parts[-1].partition(".")[0]
    return parts[1] if len(parts) > 1 else ""


def quarantine_key(key: str, digest: str) -> str:
    """Where a damaged object is set aside: by its document and its bytes, under its old name."""
    return f"{quarantine_folder(document_of(key))}{digest[:8]}/{key}"


def quarantine_folder(document: str = "") -> str:
    """What was set aside of a document, or of all."""
    return f"quarantine/{document}/" if document else "quarantine/"


def lease_key(task: str, period: int) -> str:
    """Who writes this object first does the task in this period."""
    return f"leases/{task}/{period}"


def result_key(job_id: str, name: str, version: int | None = None) -> str:
    """A job's `text.txt` or `result.json`: the newest, or one version of it."""
    return f"{job_id}/{name}" if version is None else f"{job_id}/v{version}/{name}"
