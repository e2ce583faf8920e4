"""`status`: the progress of a job, once."""

from collections import Counter
from typing import Annotated

import typer

from quire.cli.options import AsJson, Job
from quire.cli.output import Exit
from quire.cli.program import as_called
from quire.cli.run_command import command_settings, run
from quire.contracts.status import DocumentStatus, PageStatus
from quire.domain.counts import counted
from quire.settings import Settings


def status(
    context: typer.Context,
    job: Job,
    with_pages: Annotated[
        bool,
        typer.Option(
            "--with-pages", help="Each page too: its state, last attempt, and next try if it waits."
        ),
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """The progress of a job, once."""
    context.obj.job_id = job

    async def work(settings: Settings) -> Exit:
        from quire.jobs.session import open_jobs
        from quire.jobs.status import job_pages, job_status

        # A workflow worker answers queries; pages are left to the command that runs the job.
        async with open_jobs(settings, roles=("workflows",)) as jobs:
            found = await job_status(jobs, job)
            pages = await job_pages(jobs, job) if with_pages else []
        if as_json:
            rows = [page.model_dump(mode="json") for page in pages]
            body = found.model_dump(mode="json")
            context.obj.print_json({**body, "pages": rows} if with_pages else body)
        else:
            _show(found, pages)
        return Exit.DONE

    return run(work(command_settings()))


def _show(found: DocumentStatus, pages: list[PageStatus]) -> None:
    from quire.cli.page_table import page_table
    from quire.cli.progress_view import one_line
    from quire.cli.screen import screen
    from quire.jobs.status import JobView

    console = screen()
    console.print(f"{found.job_id}: {found.status}")
    console.print(one_line(JobView(found, [])))
    if found.error_message:
        console.print(found.error_message)
    if found.estimate and found.completed_at is None:
        console.print(found.estimate)
    if found.failed_items and found.message:
        console.print(as_called(found.message), soft_wrap=True)
    for line in found.waiting_for:
        console.print(as_called(line))
    codes = Counter(e.code.value for e in found.progress_detail.page_errors.values())
    for code, count in sorted(codes.items()):
        console.print(f"{counted(count, 'page')} degraded with {code}")
    if pages:
        console.print(page_table(pages, console.width))
