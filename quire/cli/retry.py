"""`retry`: read pages of a job again."""

from typing import Annotated

import typer

from quire.cli.arguments import page_list
from quire.cli.options import AsJson, Job, Owner
from quire.cli.output import Exit, ResultOutput, say
from quire.cli.run_command import command_settings, run
from quire.domain.counts import plural
from quire.domain.errors import UsageError
from quire.domain.page_ranges import format_pages
from quire.settings import Settings


def retry(
    context: typer.Context,
    job: Job,
    pages: Annotated[str | None, typer.Option(help="Only these pages: 3,5-7.")] = None,
    user: Owner = "",
    as_json: AsJson = False,
) -> Exit:
    """Read the degraded pages of a job again, or the named ones; good pages stay."""
    context.obj.job_id = job
    output = ResultOutput(context.obj, as_json=as_json)
    return run(_retry(command_settings(), job, user, page_list(pages), output))


async def _retry(
    settings: Settings, job_id: str, user: str, pages: str | None, output: ResultOutput
) -> Exit:
    from quire.cli.follow_job import follow_job, until_done
    from quire.cli.job_watch import JobWatch
    from quire.cli.show_result import show_result
    from quire.jobs.access import Caller
    from quire.jobs.result import wait_for_result
    from quire.jobs.retry import retry_pages
    from quire.jobs.session import open_jobs

    async with open_jobs(settings) as jobs:
        retrying = retry_pages(jobs, job_id, Caller(user), pages)
        # The server keeps a retry that no worker has accepted in memory only.
        watch = JobWatch(jobs, job_id)
        outcome = await until_done(watch.run(aloud=True), retrying)
        if not outcome.nothing_to_do:
            if outcome.pages:
                numbers = format_pages(outcome.pages)
                pages_read = plural(len(outcome.pages), "page")
                say(f"job {job_id}: reading again {pages_read} {numbers}")
            return await show_result(settings, await follow_job(jobs, outcome.handle), output)
        if pages is not None:
            raise UsageError(
                f"--pages: job {job_id!r} has no page {pages}.",
                f"See its pages with `quire result {job_id}`.",
            )
        say(f"Nothing to retry: job {job_id!r} has no degraded page.")
        return await show_result(settings, await wait_for_result(outcome.handle), output)
