"""`result`: the result of a finished job."""

from typing import Annotated

import typer

from quire.cli.options import AsJson, Job, Out, Text, WithText
from quire.cli.output import Exit, ResultOutput, say
from quire.cli.run_command import command_settings, run
from quire.settings import Settings


def result(
    context: typer.Context,
    job: Job,
    out: Out = None,
    link: Annotated[
        bool, typer.Option("--link", help="A link to the text in S3 that needs no credentials.")
    ] = False,
    text: Text = False,
    as_json: AsJson = False,
    with_text: WithText = False,
) -> Exit:
    """The result of a finished job."""
    context.obj.job_id = job
    output = ResultOutput(
        context.obj, as_json=as_json, out=out, link=link, text=text, with_text=with_text
    )
    output.check()

    async def work(settings: Settings) -> Exit:
        from quire.cli.show_result import show_result
        from quire.jobs.result import finished_result
        from quire.jobs.session import open_jobs

        async with open_jobs(settings, roles=()) as jobs:
            found = await finished_result(jobs, job)
            if found.history_gone:
                say(f"job {job}: its history is gone; this is its stored result")
            return await show_result(settings, found.result, output)

    return run(work(command_settings()))
