"""`batch status` and `batch watch`: the progress of a batch, once or live."""

from typing import Annotated

import typer

from quire.cli.batch.options import BatchId, BatchOut
from quire.cli.batch.start import BatchOutput
from quire.cli.connection import connected
from quire.cli.options import AsJson
from quire.cli.output import Exit
from quire.cli.run_command import command_settings, run


def status(context: typer.Context, batch: BatchId, as_json: AsJson = False) -> Exit:
    """The progress of a batch, once."""
    context.obj.batch_id = batch

    async def work() -> Exit:
        from quire.cli.batch.view import render
        from quire.cli.screen import screen
        from quire.jobs.batch.status import batch_status
        from quire.jobs.session import open_jobs

        # A workflow worker answers queries; documents are left to the command that runs them.
        async with open_jobs(command_settings(), roles=("workflows",)) as jobs:
            found = await batch_status(jobs, batch)
        if as_json:
            context.obj.print_json(found.model_dump(mode="json"))
        else:
            console = screen()
            name = f" ({found.name})" if found.name else ""
            console.print(f"{found.batch_id}{name}: {found.status}")
            console.print(render(found, console.width))
        return Exit.DONE

    return run(work())


def watch(
    context: typer.Context,
    batch: BatchId,
    out: BatchOut = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 5 when any page is degraded.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """Follow a batch live until it is done, then show its result."""
    context.obj.batch_id = batch
    output = BatchOutput(context.obj, as_json=as_json, out=out, strict=strict)

    async def work() -> Exit:
        from quire.cli.batch.follow import follow_batch
        from quire.cli.batch.show import show_batch
        from quire.domain import errors
        from quire.jobs.batch.handles import batch_handle, describe_batch

        async with connected(command_settings(), output.answer, own_settings=False) as jobs:
            try:
                await describe_batch(jobs.client, batch)
            except errors.BatchNotFound:
                # Its files may be left.
                return await show_batch(jobs, batch, output)
            await follow_batch(batch_handle(jobs.client, batch))
            return await show_batch(jobs, batch, output)

    return run(work())
