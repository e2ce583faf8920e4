"""`list`: the documents, newest first."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.arguments import seconds_of
from quire.cli.options import AsJson
from quire.cli.output import Answer, Exit, say
from quire.cli.run_command import command_settings, run
from quire.domain.errors import UsageError
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.jobs.list_jobs import JobFilter


def list_command(
    context: typer.Context,
    status: Annotated[
        str | None,
        typer.Option(
            help="running, completed, failed or terminated. A cancelled document is completed, "
            "with pages that no model read (--fallback), or failed."
        ),
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    fallback: Annotated[
        bool, typer.Option("--fallback", help="Only with pages that no model read.")
    ] = False,
    doubtful: Annotated[
        bool,
        typer.Option("--doubtful", help="Only with pages whose text is doubtful (DOUBT_BELOW)."),
    ] = False,
    since: Annotated[
        str | None, typer.Option(help="Only those started within this time: 2h, 3d.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 20,
    runs: Annotated[
        bool, typer.Option("--runs", help="Every run of a job: their costs add up.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """The documents, newest first."""
    from quire.jobs.list_jobs import JobFilter

    wanted = JobFilter(
        status=status,
        user=user,
        fallback=fallback,
        doubtful=doubtful,
        since_s=seconds_of(since, "--since"),
        limit=limit,
        runs=runs,
    )
    return run(_list(command_settings(), wanted, context.obj, as_json=as_json))


async def _list(settings: Settings, wanted: "JobFilter", answer: Answer, *, as_json: bool) -> Exit:
    from quire.cli.job_table import show_rows
    from quire.jobs.list_jobs import list_jobs, total_of
    from quire.jobs.session import open_jobs

    check_filter(wanted)
    async with open_jobs(settings, roles=()) as jobs:
        found = await list_jobs(jobs, wanted)
    if as_json:
        rows = [asdict(row) for row in found.rows]
        total = asdict(total_of(found.rows))
        answer.print_json({"documents": rows, "total": total, "more": found.more})
    else:
        show_rows(found.rows, found.at)
    if found.more:
        say(f"more exist: --limit {2 * wanted.limit}")
    return Exit.DONE


def check_filter(wanted: "JobFilter") -> None:
    """Refuse a filter that cannot work, by the names of the options, before a server is used."""
    from quire.jobs.list_jobs import BadFilter

    try:
        wanted.check()
    except BadFilter as error:
        value = f" {wanted.status}" if error.field == "status" else ""
        problem = f"--{error.field}{value}: {error.problem}"
        raise (UsageError(problem, error.remedy) if error.remedy else UsageError(problem)) from None
