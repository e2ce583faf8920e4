"""`estimate`: what a document would cost."""

from dataclasses import asdict

import typer

from quire.cli.arguments import given_document, make_request, page_list, read_secret
from quire.cli.options import (
    AsJson,
    Engine,
    Origins,
    Pages,
    Password,
    PasswordFile,
    Prompt,
    TextOnly,
)
from quire.cli.output import Exit
from quire.cli.run_command import command_settings, run


def estimate(
    context: typer.Context,
    source: Origins,
    engine: Engine = None,
    prompt: Prompt = "",
    password: Password = None,
    password_file: PasswordFile = None,
    text_only: TextOnly = False,
    pages: Pages = None,
    as_json: AsJson = False,
) -> Exit:
    """Pages by class, calls and expected cost by tier; nothing is spent.

    It assumes one answer for each page that needs a model: a page that moves on to further routes
    may be paid for on several of them.
    """
    settings = command_settings()
    given = given_document(source, password_file)
    secret = read_secret(password, password_file)
    request = make_request(
        job_id="estimate",
        source=source[0],
        engine=engine,
        instructions=prompt,
        text_only=text_only,
        pages=page_list(pages),
    )

    async def work() -> Exit:
        from quire.cli.estimate_table import show_estimate
        from quire.jobs.estimate import estimate_cost

        found = await estimate_cost(settings, request, given, secret)
        if as_json:
            context.obj.print_json(asdict(found))
        else:
            show_estimate(found)
        return Exit.DONE

    return run(work())
