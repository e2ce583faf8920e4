"""The report of a finished document, for people."""

from collections import Counter
from datetime import datetime
from pathlib import Path

from rich.table import Table
from rich.text import Text

from quire.cli.program import as_called
from quire.cli.progress_view import STYLES, cost_words
from quire.cli.screen import screen
from quire.cli.table import Column, fitting_table
from quire.contracts.results import DocumentReport, PageResult
from quire.domain.counts import counted
from quire.domain.errors import UsageError, disk_full, is_disk_full
from quire.jobs.result import LoadedResult, save_result

COLUMNS = (
    Column("page", 0, right=True),
    Column("class", 3),
    Column("source", 1),
    Column("read by", 5),
    Column("chars", 4, right=True),
    Column("why", 2, at_least=16, cut=True),
)
# The report of a longer document shows only its degraded pages.
EVERY_PAGE_UP_TO = 40


def show_report(report: DocumentReport, *, on_stderr: bool = False) -> None:
    """Print the pages with their text sources, the counts, and the place of the text."""
    console = screen(on_stderr=on_stderr)
    short = len(report.pages) <= EVERY_PAGE_UP_TO
    shown = [page for page in report.pages if short or page.source.degraded]
    if shown:
        console.print(_table(shown, console.width))
    console.print(_counts(report))
    if report.metadata.pages_failed:
        # Not wrapped here: a command broken into lines could not be copied in one piece.
        console.print(as_called(report.message), soft_wrap=True)
    for warning in report.metadata.warnings:
        console.print(f"note: {warning}")
    if report.metadata.timeout_occurred:
        console.print("note: the deadline passed; --deadline gives a document more time")
    if report.cached:
        console.print("note: a stored result of the same document; --force reads it again")
    # Not wrapped here: a path broken into lines could not be copied in one piece.
    where = report.metadata.result_local_path or report.metadata.result_s3_url
    console.print(f"text: {where}", soft_wrap=True)


def _table(pages: list[PageResult], width: int) -> Table:
    return fitting_table(
        COLUMNS,
        [
            {
                "page": str(page.page),
                "class": page.classification.value,
                "source": Text(page.source.value, style=STYLES[page.source.value]),
                "read by": f"{page.provider}:{page.model}" if page.provider else "",
                "chars": str(page.chars),
                "why": Text(
                    f"{page.error.code}: {page.error.error}" if page.error else page.reason
                ),
            }
            for page in pages
        ],
        width,
    )


def _counts(report: DocumentReport) -> str:
    meta = report.metadata
    sources = Counter(page.source.value for page in report.pages)
    by_source = ", ".join(f"{count} {name}" for name, count in sorted(sources.items()))
    took = (
        datetime.fromisoformat(report.completed_at) - datetime.fromisoformat(report.started_at)
    ).total_seconds()
    cost = cost_words(meta.input_tokens + meta.output_tokens, meta.cost_usd) or "$0.0000"
    return f"{counted(meta.total_pages, 'page')} in {took:.1f} s: {by_source}; {cost}"


def write_copy(loaded: LoadedResult, folder: Path) -> DocumentReport:
    """Write `text.txt` and `result.json` into the folder of `--out`."""
    job_id = loaded.report.job_id
    try:
        return save_result(loaded, folder)
    except OSError as error:
        if is_disk_full(error):
            raise disk_full(error, "--out", folder) from None
        raise UsageError(
            f"--out {folder}: {error.strerror}.",
            f"The result is kept; try another folder: `quire result {job_id} --out ...`.",
        ) from None
