"""Shows the result of a finished job."""

from quire.cli.output import Exit, ResultOutput
from quire.cli.report import show_report, write_copy
from quire.contracts.results import DocumentResult
from quire.domain.errors import UsageError
from quire.jobs.result import load_result, result_link
from quire.settings import Settings


async def show_result(settings: Settings, result: DocumentResult, output: ResultOutput) -> Exit:
    """Print the report of a finished job and copy it into `--out`; returns the exit code."""
    loaded = await load_result(settings, result)
    report = loaded.report
    link = await result_link(settings, result) if output.link else None
    if output.link and link is None:
        raise UsageError("--link: the result is in a folder, not in S3.", "Leave --link out.")
    if output.out is not None:
        report = write_copy(loaded, output.out)
    if output.as_json:
        body = {**report.model_dump(mode="json"), **({"link": link} if link else {})}
        output.answer.print_json(body)
    else:
        show_report(report)
        if link:
            print(link)  # noqa: T201
    degraded = report.metadata.pages_failed > 0
    return Exit.DEGRADED if output.strict and degraded else Exit.DONE
