"""`batch estimate`: what a batch would cost."""

from dataclasses import asdict

import typer

from quire.cli.batch.options import FollowLinks, Sources
from quire.cli.options import AsJson, Engine, Prompt, TextOnly
from quire.cli.output import Exit, say
from quire.cli.run_command import command_settings, run
from quire.contracts.batch import BatchOptions


def estimate(
    context: typer.Context,
    source: Sources,
    engine: Engine = None,
    prompt: Prompt = "",
    text_only: TextOnly = False,
    follow_links: FollowLinks = False,
    as_json: AsJson = False,
) -> Exit:
    """Pages by class, calls and expected cost of all documents; nothing is spent."""
    options = BatchOptions(engine=engine, instructions=prompt, text_only=text_only)

    async def work() -> Exit:
        from quire.cli.estimate_table import show_estimate
        from quire.domain.counts import counted
        from quire.jobs.batch.estimate import estimate_batch

        found = await estimate_batch(command_settings(), source, options, follow_links=follow_links)
        if as_json:
            context.obj.print_json(asdict(found))
            return Exit.DONE
        read = counted(found.documents, "document")
        same = f", {found.same:,} the same as others" if found.same else ""
        say(f"{read}{same}")
        show_estimate(found.estimate)
        for failure in found.failures:
            say(f"{failure['source']}: {failure['code']} {failure['message']}")
        return Exit.REFUSED if found.failures else Exit.DONE

    return run(work())
