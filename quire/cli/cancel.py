"""`cancel`: stop a running job."""

import typer

from quire.cli.options import AsJson, Job, Owner
from quire.cli.output import Exit, ResultOutput, say
from quire.cli.run_command import command_settings, run
from quire.settings import Settings


def cancel(
    context: typer.Context,
    job: Job,
    user: Owner = "",
    as_json: AsJson = False,
) -> Exit:
    """Stop a job, and keep what is done as a partial result."""
    context.obj.job_id = job

    async def work(settings: Settings) -> Exit:
        from quire.cli.follow_job import follow_job
        from quire.cli.show_result import show_result
        from quire.jobs.access import Caller
        from quire.jobs.cancel import cancel_job
        from quire.jobs.session import open_jobs

        async with open_jobs(settings) as jobs:
            handle = await cancel_job(jobs, job, Caller(user))
            say(f"job {job}: cancellation requested; the server keeps it until a worker takes it")
            output = ResultOutput(context.obj, as_json=as_json)
            return await show_result(settings, await follow_job(jobs, handle), output)

    return run(work(command_settings()))
