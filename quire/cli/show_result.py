"""Shows the result of a finished job."""

import sys
from typing import Any

from quire.cli.output import Exit, ResultOutput
from quire.cli.report import show_report, write_copy
from quire.contracts.results import DocumentReport, DocumentResult
from quire.domain.errors import UsageError
from quire.jobs.result import LoadedResult, load_result, result_link
from quire.settings import Settings


async def show_result(settings: Settings, result: DocumentResult, output: ResultOutput) -> Exit:
    """Print the report of a finished job and copy it into `--out`; returns the exit code."""
    loaded = await load_result(settings, result)
    link = await result_link(settings, result) if output.link else None
    if output.link and link is None:
        raise UsageError("--link: the result is in a folder, not in S3.", "Leave --link out.")
    return show_loaded(loaded, output, link)


def show_loaded(loaded: LoadedResult, output: ResultOutput, link: str | None = None) -> Exit:
    """The same for a result whose files are at hand."""
    report = loaded.report
    if output.out is not None:
        report = write_copy(loaded, output.out)
    if output.as_json:
        output.answer.print_json(_body(report, loaded, link, with_text=output.with_text))
    else:
        show_report(report, on_stderr=output.report_on_stderr)
        if link:
            _write(link.encode() + b"\n")
        if output.text:
            _write(loaded.text)
    degraded = report.metadata.pages_failed > 0
    return Exit.DEGRADED if output.strict and degraded else Exit.DONE


def _body(
    report: DocumentReport, loaded: LoadedResult, link: str | None, *, with_text: bool
) -> dict[str, Any]:
    """What `result.json` holds, and what was asked for besides."""
    body = {**report.model_dump(mode="json"), **({"link": link} if link else {})}
    if with_text:
        texts = loaded.page_texts()
        body["text"] = loaded.text.decode()
        body["pages"] = [{**page, "text": texts[page["page"]]} for page in body["pages"]]
    return body


def _write(data: bytes) -> None:
    """Exactly these bytes, whatever the encoding of the terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
