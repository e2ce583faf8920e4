"""`process`: turn one document into text."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.arguments import (
    check_out,
    given_document,
    make_request,
    page_list,
    read_secret,
    seconds_of,
)
from quire.cli.options import (
    AsJson,
    Engine,
    ModeAsked,
    OneModel,
    Origins,
    Out,
    Owner,
    Pages,
    Password,
    PasswordFile,
    Prompt,
    Text,
    TextOnly,
    WithText,
)
from quire.cli.output import Answer, Exit, ResultOutput, say
from quire.cli.program import tool_name
from quire.cli.run_command import command_settings, run
from quire.contracts.document import DocumentRequest
from quire.contracts.names import workflow_id
from quire.domain.errors import UsageError
from quire.jobs.job_id import new_job_id
from quire.settings import Settings


def process(
    context: typer.Context,
    source: Origins,
    engine: Engine = None,
    tier: Annotated[str, typer.Option(help="primary, secondary or fast models.")] = "primary",
    prompt: Prompt = "",
    password: Password = None,
    password_file: PasswordFile = None,
    text_only: TextOnly = False,
    deadline: Annotated[
        str | None, typer.Option(help="Time for the whole document: 3m, 90s.")
    ] = None,
    mode: ModeAsked = None,
    one_model: OneModel = False,
    pages: Pages = None,
    out: Out = None,
    user: Owner = "",
    job_id: Annotated[
        str | None,
        typer.Option(help="The id of the job; the same request attaches to it, no other may."),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Start the job and return.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Ignore cached results.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="With --force: also end the job if it is running.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 5 when any page is degraded.")
    ] = False,
    text: Text = False,
    as_json: AsJson = False,
    with_text: WithText = False,
) -> Exit:
    """Turn one document into text."""
    from quire.jobs.submit import prepare_request

    answer: Answer = context.obj
    output = ResultOutput(
        answer, as_json=as_json, out=out, strict=strict, text=text, with_text=with_text
    )
    output.check()
    if detach and (text or with_text):
        raise UsageError(
            "--detach returns before there is a text.", "Later: `quire result JOB --text`."
        )
    if replace and not force:
        raise UsageError("--replace goes with --force.", "--force reads the document again.")
    settings = command_settings()
    given = given_document(source, password_file)
    secret = read_secret(password, password_file)
    check_out(out)
    request = make_request(
        job_id=job_id or new_job_id(),
        source="",
        engine=engine,
        tier=tier,
        instructions=prompt,
        text_only=text_only,
        deadline_s=seconds_of(deadline),
        pages=page_list(pages),
        mode=mode,
        one_model=one_model,
        user_id=user,
        force=force,
    )

    answer.job_id = job_id

    async def work() -> Exit:
        ready = await prepare_request(settings, request, given, secret)
        begin = _start_detached if detach else _process
        return await begin(settings, ready, output, replace=replace)

    return run(work())


async def _process(
    settings: Settings, request: DocumentRequest, output: ResultOutput, *, replace: bool
) -> Exit:
    """Run the document and show its result."""
    from quire.cli.follow_job import follow_job
    from quire.cli.show_result import show_loaded
    from quire.jobs.bound_request import check_bound
    from quire.jobs.result import load_result
    from quire.jobs.session import open_jobs
    from quire.jobs.submit import submit

    async with open_jobs(settings) as jobs:
        with jobs.traces.command("process", request.job_id):
            handle = await submit(jobs, request, replace=replace)
            output.answer.job_id = request.job_id
            where = f"; Web UI: {jobs.ui_url}" if jobs.ui_url else ""
            say(f"{_job_words(request)}{where}")
            loaded = await load_result(settings, await follow_job(jobs, handle))
            # Another command may have given the id to another request meanwhile.
            await check_bound(jobs, request)
        return show_loaded(loaded, output)


async def _start_detached(
    settings: Settings, request: DocumentRequest, output: ResultOutput, *, replace: bool
) -> Exit:
    """Start the job and return. Without a cluster, a background process does the work."""
    from quire.jobs.session import open_jobs
    from quire.jobs.submit import submit

    # The job is recorded before this command ends, so that the next one finds it.
    async with open_jobs(settings, roles=()) as jobs:
        with jobs.traces.command("process --detach", request.job_id):
            await submit(jobs, request, replace=replace)
            output.answer.job_id = request.job_id
    if not settings.cluster:
        _run_in_background(settings, request.job_id, output.out)
    say(f"{_job_words(request)}; follow it with: {tool_name()} watch {request.job_id}")
    if output.as_json:
        ids = {"job_id": request.job_id, "workflow_id": workflow_id(request.job_id)}
        output.answer.print_json({**ids, "status": "pending"})
    else:
        print(request.job_id)  # noqa: T201
    return Exit.DONE


def _job_words(request: DocumentRequest) -> str:
    return f"job {request.job_id} (workflow {workflow_id(request.job_id)})"


def _run_in_background(settings: Settings, job_id: str, out: Path | None) -> None:
    """Run `watch`, which continues a job of this state folder; the command line that started the
    job may hold a password, so it is not run again."""
    where = ["--out", str(out.absolute())] if out is not None else []
    logs = settings.state_dir.expanduser() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"{job_id}.log").open("wb") as log:
        subprocess.Popen(
            [sys.executable, sys.argv[0], "watch", job_id, "--json", *where],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
