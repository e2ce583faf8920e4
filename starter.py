"""Quire turns documents into faithful text with vision models, and always finishes."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from console.arguments import (
    make_request,
    new_job_id,
    page_list,
    read_password,
    seconds_of,
)
from console.exits import Exit, UsageError, exit_code, print_json, say, show_error
from domain.contracts import CancelRequest, RetryRequest
from domain.errors import Code, ErrorInfo, QuireError
from settings import Settings, forget_password, load_settings
from telemetry.logs import configure_logs

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)

AsJson = Annotated[
    bool, typer.Option("--json", help="Standard output holds exactly one JSON object.")
]
Job = Annotated[str, typer.Argument(help="The job's id.")]


@app.command()
def process(
    source: Annotated[
        list[str],
        typer.Argument(help="A PDF, a folder of page images or several, http(s)://, s3://."),
    ],
    engine: Annotated[
        str | None, typer.Option(help="openai, anthropic, an extra provider, or local.")
    ] = None,
    tier: Annotated[str, typer.Option(help="primary, secondary or fast models.")] = "primary",
    prompt: Annotated[str, typer.Option(help="Wishes, added to the rules of transcription.")] = "",
    password: Annotated[
        str | None,
        typer.Option(
            envvar="QUIRE_PASSWORD", show_envvar=True, help="Opens a locked PDF; blanks count."
        ),
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="The password is this file's first line; - asks for it.")
    ] = None,
    text_only: Annotated[bool, typer.Option("--text-only", help="MuPDF's text only.")] = False,
    deadline: Annotated[
        str | None, typer.Option(help="Time for the whole document: 3m, 90s.")
    ] = None,
    pages: Annotated[str | None, typer.Option(help="Only these pages: 1-5,9.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also put text.txt and result.json here.")
    ] = None,
    user: Annotated[str, typer.Option(help="The owner of the job.")] = "",
    job_id: Annotated[
        str | None, typer.Option(help="Name the job; attaches to it if it runs.")
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Start and leave.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Ignore cached results.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 5 when any page is degraded.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """Turn one document into text."""
    from console.process import Output, prepare, process, start_detached

    settings = _settings()
    secret = password if password_file is None else read_password(password_file)
    forget_password()
    request = make_request(
        job_id=job_id or new_job_id(),
        source=source[0],
        engine=engine,
        tier=tier,
        instructions=prompt,
        text_only=text_only,
        deadline_s=seconds_of(deadline),
        pages=page_list(pages),
        user_id=user,
        force=force,
    )

    async def work() -> Exit:
        ready = await prepare(settings, request, source, secret)
        if detach:
            await start_detached(settings, ready, out)
            return Exit.DONE
        return await process(settings, ready, Output(as_json=as_json, out=out, strict=strict))

    if detach:
        _run(work())
        say(f"job {request.job_id}; follow it with: starter.py watch {request.job_id}")
        if as_json:
            print_json({"job_id": request.job_id, "status": "pending"})
        else:
            typer.echo(request.job_id)
        return Exit.DONE
    return _run(work())


@app.command()
def estimate(
    source: Annotated[str, typer.Argument(help="A PDF file.")],
    engine: Annotated[str | None, typer.Option(help="As with process.")] = None,
    pages: Annotated[str | None, typer.Option(help="Only these pages: 1-5,9.")] = None,
    as_json: AsJson = False,
) -> Exit:
    """Pages by class, calls and expected cost by tier; nothing is spent."""
    from console.estimate import estimate

    settings = _settings()
    request = make_request(
        job_id="estimate",
        source=source,
        source_name=Path(source).name,
        engine=engine,
        pages=page_list(pages),
    )
    return _run(estimate(settings, request, as_json=as_json))


@app.command()
def status(job: Job, as_json: AsJson = False) -> Exit:
    """The progress of a job, once."""
    from console.looking import show_status

    return _run(show_status(_settings(), job, as_json=as_json))


@app.command()
def watch(
    job: Job,
    text: Annotated[
        bool, typer.Option("--text", help="Print the pages' text, in order, as it comes.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Also put the files here.")] = None,
    as_json: AsJson = False,
) -> Exit:
    """Follow a job live until it is done, then show its result."""
    from console.looking import watch, watch_text

    if text and as_json:
        raise UsageError("--text and --json cannot both have standard output.")
    settings = _settings()
    if text:
        return _run(watch_text(settings, job))
    return _run(watch(settings, job, out=out, as_json=as_json))


@app.command()
def result(
    job: Job,
    out: Annotated[Path | None, typer.Option(help="Also put the files here.")] = None,
    link: Annotated[
        bool, typer.Option("--link", help="A link to the text in S3 that needs no credentials.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """The result of a finished job."""
    from console.looking import show_finished

    return _run(show_finished(_settings(), job, out=out, link=link, as_json=as_json))


@app.command()
def retry(
    job: Job,
    pages: Annotated[str | None, typer.Option(help="Only these pages: 3,5-7.")] = None,
    user: Annotated[str, typer.Option(help="The owner of the job.")] = "",
    as_json: AsJson = False,
) -> Exit:
    """Read the degraded pages of a job again, or the named ones; good pages stay."""
    from console.process import Output
    from console.wishes import retry

    wish = RetryRequest(user_id=user, pages=page_list(pages))
    return _run(retry(_settings(), job, wish, Output(as_json=as_json)))


@app.command()
def cancel(
    job: Job,
    user: Annotated[str, typer.Option(help="The owner of the job.")] = "",
    as_json: AsJson = False,
) -> Exit:
    """Stop a job, and keep what is done as a partial result."""
    from console.process import Output
    from console.wishes import cancel

    wish = CancelRequest(user_id=user)
    return _run(cancel(_settings(), job, wish, Output(as_json=as_json)))


@app.command("list")
def list_(
    status: Annotated[
        str | None, typer.Option(help="running, completed, failed, canceled or terminated.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    fallback: Annotated[
        bool, typer.Option("--fallback", help="Only with pages that no model read.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(help="Only those started within this time: 2h, 3d.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 20,
    as_json: AsJson = False,
) -> Exit:
    """The documents, newest first."""
    from console.listing import Wanted, show_list

    wanted = Wanted(
        status=status,
        user=user,
        fallback=fallback,
        since_s=seconds_of(since, "--since"),
        limit=limit,
    )
    return _run(show_list(_settings(), wanted, as_json=as_json))


@app.command()
def clean(
    older_than: Annotated[str, typer.Option(help="Not used for this long: 30d, 12h.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    results: Annotated[
        bool, typer.Option("--results", help="Results too: text.txt and result.json of old jobs.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """Remove old documents and answers from the store."""
    from console.cleaning import Cleaning, clean

    seconds = seconds_of(older_than, "--older-than") or 0.0
    wanted = Cleaning(older_than_s=seconds, dry_run=dry_run, results=results)
    return _run(clean(_settings(), wanted, as_json=as_json))


@app.command()
def doctor(as_json: AsJson = False) -> Exit:
    """Check Temporal, store, engines and settings, and say what to do about what fails."""
    from console.looking import show_doctor

    return _run(show_doctor(_settings(), as_json=as_json))


def _settings() -> Settings:
    settings = load_settings()
    # In the person's terminal, the workers in this process speak only of what is wrong.
    level = settings.log_level if "log_level" in settings.model_fields_set else "error"
    configure_logs(level, settings.log_format)
    return settings


def _run(work: Coroutine[Any, Any, Exit | None]) -> Exit:
    # A runner that is never closed: closing would cancel what is left of the workers and wait
    # for a server that the last command out has already stopped. The process ends right after.
    return asyncio.Runner().run(_interruptible(work)) or Exit.DONE


async def _interruptible(work: Coroutine[Any, Any, Exit | None]) -> Exit | None:
    """SIGTERM ends a command as Ctrl-C does: in order, and keeping the job."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def _call(arguments: list[str]) -> int:
    """The exit code of a command line; every error ends as one line with what to do."""
    as_json = "--json" in arguments
    try:
        return int(app(arguments, standalone_mode=False) or 0)
    except QuireError as error:
        show_error(error.info, as_json=as_json)
        return exit_code(error)
    except (KeyboardInterrupt, asyncio.CancelledError, typer.Abort):
        say("Interrupted. A job that was begun is kept: watch JOB, or process with its --job-id.")
        return Exit.INTERRUPTED
    except typer.Exit as leaving:
        return leaving.exit_code
    except Exception as error:
        if hasattr(error, "format_message"):
            words = str(error.format_message())
            if words:  # without words, the help has just been shown
                show_error(UsageError(words).info, as_json=as_json)
            return Exit.USAGE
        from temporalio.service import RPCError

        if isinstance(error, RPCError):
            from client import refused_by_temporal

            show_error(refused_by_temporal(error).info, as_json=as_json)
            return Exit.OUR_FAULT
        import structlog

        structlog.get_logger("quire").exception("command_broke")
        kind: Literal["retryable"] = "retryable"
        info = ErrorInfo(
            code=Code.UNKNOWN,
            reason="BUG",
            error_type=kind,
            message=f"Quire failed: {type(error).__name__}.",
            remedy="Please report it with the lines above.",
        )
        show_error(info, as_json=as_json)
        return Exit.OUR_FAULT


def main() -> None:
    code = _call(sys.argv[1:])
    # Interpreter teardown after the SDK's threads have run can crash (sdk-python issue 300).
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
