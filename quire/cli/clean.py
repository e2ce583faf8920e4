"""`clean`: remove what was not used for long."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.arguments import seconds_of
from quire.cli.options import AsJson
from quire.cli.output import Exit, say
from quire.cli.run_command import command_settings, run
from quire.domain.counts import counted
from quire.domain.errors import UsageError

if TYPE_CHECKING:
    from quire.jobs.clean import CleanOutcome


def clean(
    context: typer.Context,
    older_than: Annotated[str, typer.Option(help="Not used for this long: 30d, 12h.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    results: Annotated[
        bool, typer.Option("--results", help="Results too: text.txt and result.json of old jobs.")
    ] = False,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Do not ask the server: open documents lose theirs, too."),
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """Remove old documents and answers from the store; what open documents need stays."""
    seconds = seconds_of(older_than, "--older-than") or 0.0
    settings = command_settings()

    async def work() -> Exit:
        from quire.jobs.clean import CleanRequest, clean_store

        request = CleanRequest(
            older_than_s=seconds, dry_run=dry_run, results=results, offline=offline
        )
        try:
            outcome = await clean_store(settings, request)
        except ValueError as error:
            raise UsageError(f"--older-than: {error}.") from None
        if as_json:
            context.obj.print_json(asdict(outcome))
        else:
            _show(outcome)
        return Exit.DONE

    return run(work())


def _show(outcome: "CleanOutcome") -> None:
    verb = "would be removed" if outcome.dry_run else "removed"
    for kind, removed in outcome.kinds.items():
        say(f"{kind}: {_sizes(removed.objects, removed.bytes)}")
    if outcome.spared.objects:
        spared = _sizes(outcome.spared.objects, outcome.spared.bytes)
        say(f"kept for open documents: {spared}")
    cached = f"{counted(outcome.cache_bytes, 'byte')} of the cache"
    say(f"{_sizes(outcome.objects, outcome.bytes)} {verb}; {cached}")


def _sizes(objects: int, size: int) -> str:
    return f"{counted(objects, 'object')}, {counted(size, 'byte')}"
