"""What a finished document returns and `result.json` holds.

`finalize_document` writes them; people, programs, and the job when it is retried, read them."""

from typing import Literal

from quire.contracts.base import Wire
from quire.contracts.document import DocumentKind
from quire.contracts.judgement import Choice, Disagreement
from quire.contracts.page import Attempt, Classification, PageError, TextSource, Usage


class PageResult(Wire):
    """One page of `result.json`."""

    page: int
    classification: Classification
    reason: str
    source: TextSource
    provider: str | None = None
    model: str | None = None
    attempts: tuple[Attempt, ...] = ()
    # What this run paid for the page, answers that did not count included; None: price unknown.
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    # Its text was in the store, bought by another run.
    reused: bool = False
    chars: int = 0
    error: PageError | None = None
    # The key of the answer in the store, and how often a person had the page read again.
    answer: str | None = None
    take: int = 0
    # 0 to 1: about the share of the text that is right; None where nothing could be compared.
    confidence: float | None = None
    # The confidence is below DOUBT_BELOW.
    doubtful: bool = False
    # The text layer beside what was read from the picture, and which of them the text is.
    disagreement: Disagreement | None = None
    choice: Choice | None = None
    # By how many quarters to the left the page was turned to be read.
    turn: int = 0


class ResultMetadata(Wire):
    """The counts of a finished document; they always add up.

    total_pages = pages_done + pages_failed = ai_pages + text_only_pages, and
    pages_failed = mupdf_fallback_count + ocr_fallback_count.
    """

    total_pages: int
    ai_pages: int
    text_only_pages: int
    pages_done: int
    pages_failed: int
    ai_pages_succeeded: int
    ocr_pages: int
    mupdf_fallback_count: int
    # Results of versions from before lack it: there such pages are among `ocr_pages`.
    ocr_fallback_count: int = 0
    timeout_occurred: bool
    cancelled: bool = False
    missing_pages: int
    result_text_len: int
    # Of `text.txt` as it was written; empty in results of versions from before.
    text_sha256: str = ""
    result_local_path: str | None = None
    result_s3_url: str | None = None
    # What this run paid: the sums over the pages.
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    warnings: tuple[str, ...] = ()
    # How often the document was stuck and started again.
    healed: int = 0
    # How many pages are doubtful, and which, as `3,5-7`.
    doubtful_pages: int = 0
    doubtful: str = ""
    # The mean over the pages that have one, by their lengths.
    confidence: float | None = None


class DocumentResult(Wire):
    """What the workflow returns; `result.json` holds the same and the pages."""

    job_id: str
    status: Literal["success"] = "success"
    message: str
    source: str
    sha256: str
    # Of the whole document, also when only some pages were chosen.
    page_count: int
    kind: DocumentKind = "pdf"
    user_id: str = ""
    started_at: str
    completed_at: str
    # Results of a job are numbered; a retry makes a new one and keeps the older.
    version: int = 1
    changed_pages: tuple[int, ...] = ()
    # Taken from an earlier run on the same bytes with the same options; what it says of attempts
    # is that run's, what it says of cost is this one's: nothing.
    cached: bool = False
    metadata: ResultMetadata


class DocumentReport(DocumentResult):
    """`result.json`."""

    pages: tuple[PageResult, ...]
    # Over everything else in the file and the job's id; empty in those of versions from before.
    checksum: str = ""
