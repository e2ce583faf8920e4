"""`status`: the progress of a job, once."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.options import AsJson, Job
from quire.cli.output import Exit
from quire.cli.program import as_called
from quire.cli.run_command import command_settings, run
from quire.contracts.status import PageStatus
from quire.domain.counts import counted
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.jobs.status import JobView


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
        from quire.jobs.status import JobView, job_breakers, job_pages, job_status

        # A workflow worker answers queries; pages are left to the command that runs the job.
        async with open_jobs(settings, roles=("workflows",)) as jobs:
            found = await job_status(jobs, job)
            pages = await job_pages(jobs, job) if with_pages else []
            is_over = as_json or found.completed_at is not None
            breakers = [] if is_over else await job_breakers(jobs, job)
        if as_json:
            rows = [page.model_dump(mode="json") for page in pages]
            body = found.model_dump(mode="json")
            context.obj.print_json({**body, "pages": rows} if with_pages else body)
        else:
            _show(JobView(found, breakers), pages)
        return Exit.DONE

    return run(work(command_settings()))


def _show(view: "JobView", pages: list[PageStatus]) -> None:
    from quire.cli.page_table import page_table
    from quire.cli.progress_view import one_line, route_line
    from quire.cli.screen import screen

    console, found = screen(), view.status
    console.print(f"{found.job_id}: {found.status}")
    console.print(one_line(view))
    if found.error_message:
        console.print(found.error_message)
    if found.estimate and found.completed_at is None:
        console.print(found.estimate)
    if found.failed_items and found.message:
        console.print(as_called(found.message), soft_wrap=True)
    for breaker in view.breakers:
        if breaker.retry_at:
            console.print(route_line(breaker))
    for line in found.waiting_for:
        console.print(as_called(line))
    codes = Counter(e.code.value for e in found.progress_detail.page_errors.values())
    for code, count in sorted(codes.items()):
        console.print(f"{counted(count, 'page')} degraded with {code}")
    if pages:
        console.print(page_table(pages, console.width))
