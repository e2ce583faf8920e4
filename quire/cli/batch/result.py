"""`batch result`: what became of the documents of a batch."""

from typing import Annotated

import typer

from quire.cli.batch.options import BatchId, BatchOut
from quire.cli.batch.start import BatchOutput
from quire.cli.options import AsJson
from quire.cli.output import Exit
from quire.cli.run_command import command_settings, run
from quire.domain.errors import UsageError


def result(
    context: typer.Context,
    batch: BatchId,
    partial: Annotated[
        bool, typer.Option("--partial", help="Also of a batch that still runs: what there is.")
    ] = False,
    rows: Annotated[
        bool,
        typer.Option("--rows", help="Standard output holds documents.jsonl: a line a document."),
    ] = False,
    out: BatchOut = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 5 when any page is degraded.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """The result of a batch: counts, cost, and the documents that have no text."""
    if rows and as_json:
        raise UsageError("--rows and --json cannot both have standard output.")
    context.obj.batch_id = batch
    output = BatchOutput(context.obj, as_json=as_json, out=out, strict=strict)

    async def work() -> Exit:
        from quire.cli.batch.show import exit_of, show_batch
        from quire.domain.batch.rows import json_lines
        from quire.jobs.batch.result import load_batch
        from quire.jobs.session import open_jobs

        async with open_jobs(command_settings(), roles=()) as jobs:
            if not rows:
                return await show_batch(jobs, batch, output, partial=partial)
            loaded = await load_batch(jobs, batch, partial=partial)
        print(json_lines(loaded.rows), end="")  # noqa: T201
        return exit_of(loaded.result, strict=strict)

    return run(work())
