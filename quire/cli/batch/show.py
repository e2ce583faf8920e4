"""Shows the result of a batch: a summary, the documents that failed, and the files."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quire.cli.batch.view import printable
from quire.cli.job_table import short_time
from quire.cli.output import Exit, say
from quire.cli.program import as_called, tool_name
from quire.cli.progress_view import cost_words
from quire.cli.screen import screen
from quire.cli.table import Column, fitting_table
from quire.contracts.batch import BatchResult, DocumentRow
from quire.domain.counts import counted
from quire.jobs.session import Jobs

if TYPE_CHECKING:
    from quire.cli.batch.start import BatchOutput

COLUMNS = (
    Column("number", 0, right=True),
    Column("source", 1, at_least=20, cut=True),
    Column("status", 2),
    Column("code", 3),
    Column("message", 4, at_least=30),
)
# Of the documents without a text; all of them are in `documents.jsonl`.
FAILURES_SHOWN = 20


async def show_batch(
    jobs: Jobs, batch_id: str, output: "BatchOutput", *, partial: bool = False
) -> Exit:
    """Show a batch that is done, or what there is of it, and write it to `--out`."""
    from quire.jobs.batch.result import load_batch, save_batch

    loaded = await load_batch(jobs, batch_id, partial=partial)
    result = loaded.result
    if output.out is not None:
        saved = await save_batch(jobs.settings, loaded, output.out)
        say(f"{counted(saved.saved, 'text')} written to {output.out.absolute()}")
        for problem in saved.failed:
            say(printable(problem))
    if output.as_json:
        output.answer.print_json(result.model_dump(mode="json"))
    else:
        _print(result, loaded.rows)
    return exit_of(result, strict=output.strict)


def exit_of(result: BatchResult, *, strict: bool) -> Exit:
    """Refused when any document has no text; a night's script must notice it."""
    counts = result.counts
    if counts.failed + counts.not_started + counts.cancelled:
        return Exit.REFUSED
    return Exit.DEGRADED if strict and counts.degraded else Exit.DONE


def _print(result: BatchResult, rows: Sequence[DocumentRow]) -> None:
    console = screen()
    bad = [row for row in rows if row.status not in ("done", "degraded")]
    if bad:
        console.print(
            fitting_table(COLUMNS, [_words(row) for row in bad[:FAILURES_SHOWN]], console.width)
        )
        if len(bad) > FAILURES_SHOWN:
            console.print(f"and {len(bad) - FAILURES_SHOWN:,} more")
        for remedy in dict.fromkeys(row.remedy for row in bad if row.remedy):
            console.print(f"{as_called(remedy)}")
    for line in summary_lines(result):
        console.print(line)
    sys.stdout.flush()


def summary_lines(result: BatchResult) -> list[str]:
    """The batch in a few lines."""
    sources = ", ".join(f"{pages:,} {name}" for name, pages in result.pages_by_source.items())
    cost = cost_words(result.input_tokens + result.output_tokens, result.cost_usd)
    lines = [
        f"batch {result.batch_id}: {result.message}",
        "; ".join(
            part
            for part in (
                f"{counted(result.pages, 'page')}{_took(result)}{': ' if sources else ''}{sources}",
                cost or "$0.0000",
            )
            if part
        ),
    ]
    if result.stopped_by:
        lines.append(f"nothing more was started: {result.stopped_by}")
    lines += [f"note: {warning}" for warning in result.warnings]
    if result.documents_path:
        lines.append(f"rows: {result.documents_path}")
    counts = result.counts
    if counts.ended > counts.done and result.status == "completed":
        lines.append(f"read again what is not good: {tool_name()} batch retry {result.batch_id}")
    return lines


def _took(result: BatchResult) -> str:
    from datetime import datetime

    if result.completed_at is None:
        return ""
    started = datetime.fromisoformat(result.started_at)
    ended = datetime.fromisoformat(result.completed_at)
    return f" in {short_time((ended - started).total_seconds())}"


def _words(row: DocumentRow) -> dict[str, str]:
    return {
        "number": str(row.number),
        "source": printable(row.source),
        "status": row.status.replace("_", " "),
        "code": f"{row.code or ''}",
        "message": printable(row.message or ""),
    }
