"""Quire turns documents into faithful text with vision models, and always finishes."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.arguments import (
    check_out,
    make_request,
    new_job_id,
    page_list,
    read_password,
    seconds_of,
)
from quire.cli.exits import Exit, UsageError
from quire.cli.running import call, leave, run
from quire.contracts.document import CancelRequest, RetryRequest
from quire.settings import Settings, forget_password, load_settings
from quire.telemetry.logs import configure_logs

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)

AsJson = Annotated[
    bool, typer.Option("--json", help="Standard output holds exactly one JSON object.")
]
Job = Annotated[str, typer.Argument(help="The job's id.")]
Source = Annotated[
    list[str],
    typer.Argument(help="A PDF, a folder of page images or several, http(s)://, s3://."),
]
Engine = Annotated[str | None, typer.Option(help="openai, anthropic, an extra provider, or local.")]
Password = Annotated[
    str | None,
    typer.Option(
        envvar="QUIRE_PASSWORD", show_envvar=True, help="Opens a locked PDF; blanks count."
    ),
]
PasswordFile = Annotated[
    Path | None, typer.Option(help="The password is this file's first line; - asks for it.")
]
Prompt = Annotated[str, typer.Option(help="Wishes, added to the rules of transcription.")]
TextOnly = Annotated[bool, typer.Option("--text-only", help="MuPDF's text only.")]
Pages = Annotated[str | None, typer.Option(help="Only these pages: 1-5,9.")]
Out = Annotated[Path | None, typer.Option(help="Also put text.txt and result.json here.")]
Owner = Annotated[str, typer.Option(help="The owner of the job.")]


@app.command()
def process(
    source: Source,
    engine: Engine = None,
    tier: Annotated[str, typer.Option(help="primary, secondary or fast models.")] = "primary",
    prompt: Prompt = "",
    password: Password = None,
    password_file: PasswordFile = None,
    text_only: TextOnly = False,
    deadline: Annotated[
        str | None, typer.Option(help="Time for the whole document: 3m, 90s.")
    ] = None,
    pages: Pages = None,
    out: Out = None,
    user: Owner = "",
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
    from quire.cli.process import Output, prepare, process, start_detached

    settings = _settings()
    secret = _secret(password, password_file)
    check_out(out)
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
        output = Output(as_json=as_json, out=out, strict=strict)
        return await (start_detached if detach else process)(settings, ready, output)

    return run(work(), job_id)


@app.command()
def estimate(
    source: Source,
    engine: Engine = None,
    prompt: Prompt = "",
    password: Password = None,
    password_file: PasswordFile = None,
    text_only: TextOnly = False,
    pages: Pages = None,
    as_json: AsJson = False,
) -> Exit:
    """Pages by class, calls and expected cost by tier; nothing is spent.

    It assumes one answer for each page that needs a model: a page that goes on to further routes
    may be paid for on several of them.
    """
    from quire.cli.estimate import estimate

    settings = _settings()
    secret = _secret(password, password_file)
    request = make_request(
        job_id="estimate",
        source=source[0],
        engine=engine,
        instructions=prompt,
        text_only=text_only,
        pages=page_list(pages),
    )
    return run(estimate(settings, request, source, secret, as_json=as_json))


@app.command()
def status(job: Job, as_json: AsJson = False) -> Exit:
    """The progress of a job, once."""
    from quire.cli.looking import show_status

    return run(show_status(_settings(), job, as_json=as_json), job)


@app.command()
def watch(
    job: Job,
    text: Annotated[
        bool, typer.Option("--text", help="Print the pages' text, in order, as it comes.")
    ] = False,
    out: Out = None,
    as_json: AsJson = False,
) -> Exit:
    """Follow a job live until it is done, then show its result."""
    from quire.cli.looking import watch, watch_text

    if text and as_json:
        raise UsageError("--text and --json cannot both have standard output.")
    settings = _settings()
    if text:
        return run(watch_text(settings, job), job)
    return run(watch(settings, job, out=out, as_json=as_json), job)


@app.command()
def result(
    job: Job,
    out: Out = None,
    link: Annotated[
        bool, typer.Option("--link", help="A link to the text in S3 that needs no credentials.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """The result of a finished job."""
    from quire.cli.looking import show_finished

    return run(show_finished(_settings(), job, out=out, link=link, as_json=as_json), job)


@app.command()
def retry(
    job: Job,
    pages: Annotated[str | None, typer.Option(help="Only these pages: 3,5-7.")] = None,
    user: Owner = "",
    as_json: AsJson = False,
) -> Exit:
    """Read the degraded pages of a job again, or the named ones; good pages stay."""
    from quire.cli.process import Output
    from quire.cli.wishes import retry

    wish = RetryRequest(user_id=user, pages=page_list(pages))
    return run(retry(_settings(), job, wish, Output(as_json=as_json)), job)


@app.command()
def cancel(
    job: Job,
    user: Owner = "",
    as_json: AsJson = False,
) -> Exit:
    """Stop a job, and keep what is done as a partial result."""
    from quire.cli.process import Output
    from quire.cli.wishes import cancel

    wish = CancelRequest(user_id=user)
    return run(cancel(_settings(), job, wish, Output(as_json=as_json)), job)


@app.command("list")
def list_(
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
    from quire.cli.listing import Wanted, show_list

    wanted = Wanted(
        status=status,
        user=user,
        fallback=fallback,
        since_s=seconds_of(since, "--since"),
        limit=limit,
        runs=runs,
    )
    return run(show_list(_settings(), wanted, as_json=as_json))


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
    from quire.cli.cleaning import Cleaning, clean

    seconds = seconds_of(older_than, "--older-than") or 0.0
    wanted = Cleaning(older_than_s=seconds, dry_run=dry_run, results=results)
    return run(clean(_settings(), wanted, as_json=as_json))


@app.command()
def doctor(as_json: AsJson = False) -> Exit:
    """Check Temporal, store, engines and settings, and say what to do about what fails."""
    from quire.cli.looking import show_doctor

    return run(show_doctor(_settings(), as_json=as_json))


def _settings() -> Settings:
    settings = load_settings()
    # In the person's terminal, the workers in this process speak only of what is wrong.
    level = settings.log_level if "log_level" in settings.model_fields_set else "error"
    configure_logs(level, settings.log_format)
    return settings


def _secret(password: str | None, password_file: Path | None) -> str | None:
    forget_password()
    return password if password_file is None else read_password(password_file)


def main() -> None:
    leave(call(app, sys.argv[1:]))


if __name__ == "__main__":
    main()
