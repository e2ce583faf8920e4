"""`watch`: follow a job live until it is done."""

from typing import Annotated

import typer

from quire.cli.options import AsJson, Job, Out
from quire.cli.output import Exit, ResultOutput, say
from quire.cli.program import as_called
from quire.cli.run_command import command_settings, run
from quire.domain.counts import counted
from quire.domain.errors import UsageError
from quire.settings import Settings


def watch(
    context: typer.Context,
    job: Job,
    text: Annotated[
        bool, typer.Option("--text", help="Print the pages' text, in order, as it comes.")
    ] = False,
    out: Out = None,
    as_json: AsJson = False,
) -> Exit:
    """Follow a job live until it is done, then show its result."""
    if text and as_json:
        raise UsageError("--text and --json cannot both have standard output.")
    context.obj.job_id = job
    settings = command_settings()
    if text:
        return run(_watch_text(settings, job))
    return run(_watch(settings, job, ResultOutput(context.obj, as_json=as_json, out=out)))


async def _watch(settings: Settings, job_id: str, output: ResultOutput) -> Exit:
    """Follow a job to its end; without a cluster, the workers of this command continue it."""
    from quire.cli.follow_job import follow_job
    from quire.cli.show_result import show_result
    from quire.jobs.handles import find_job
    from quire.jobs.session import open_jobs

    async with open_jobs(settings) as jobs:
        result = await follow_job(jobs, await find_job(jobs.client, job_id))
        return await show_result(settings, result, output)


async def _watch_text(settings: Settings, job_id: str) -> Exit:
    """The document's text on standard output, page by page as it is read."""
    from quire.cli.follow_job import together, until_done
    from quire.cli.job_watch import JobWatch
    from quire.cli.text_printer import TextPrinter
    from quire.jobs.handles import find_job
    from quire.jobs.result import load_result, wait_for_result
    from quire.jobs.session import open_jobs

    async with open_jobs(settings) as jobs:
        handle = await find_job(jobs.client, job_id)
        printer = TextPrinter(settings)
        watch = JobWatch(jobs, job_id)
        printing = together(printer.run(handle, watch), watch.run(aloud=True))
        result = await until_done(printing, wait_for_result(handle))
        loaded = await load_result(settings, result)
        printer.finish(loaded.text.decode())
    say(f"{as_called(result.message)}; {counted(result.metadata.total_pages, 'page')}")
    return Exit.DONE
