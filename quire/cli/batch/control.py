"""`batch pause`, `resume`, `cancel` and `retry`."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.batch.options import BatchId, BatchOut, MaxCost
from quire.cli.batch.start import BatchOutput
from quire.cli.connection import connected, roles_to_leave
from quire.cli.options import AsJson, Owner
from quire.cli.output import Exit, say
from quire.cli.run_command import command_settings, run

if TYPE_CHECKING:
    from quire.jobs.session import Jobs


def pause(
    context: typer.Context, batch: BatchId, user: Owner = "", as_json: AsJson = False
) -> Exit:
    """Start no more documents; those under way are finished, and nothing is lost."""
    from quire.jobs.access import Caller
    from quire.jobs.batch.control import pause_batch

    return _order(
        context,
        batch,
        lambda jobs: pause_batch(jobs, batch, Caller(user)),
        "paused",
        as_json=as_json,
    )


def resume(
    context: typer.Context,
    batch: BatchId,
    max_cost: MaxCost = None,
    user: Owner = "",
    as_json: AsJson = False,
) -> Exit:
    """Start documents again, also after a week; perhaps with another spend limit."""
    from quire.jobs.access import Caller
    from quire.jobs.batch.control import resume_batch

    return _order(
        context,
        batch,
        lambda jobs: resume_batch(jobs, batch, Caller(user), max_cost),
        "resumed",
        as_json=as_json,
    )


def cancel(
    context: typer.Context, batch: BatchId, user: Owner = "", as_json: AsJson = False
) -> Exit:
    """Stop a batch and its documents; what is done is its result."""
    from quire.jobs.access import Caller
    from quire.jobs.batch.control import cancel_batch

    return _order(
        context,
        batch,
        lambda jobs: cancel_batch(jobs, batch, Caller(user)),
        "cancelling",
        as_json=as_json,
    )


def _order(
    context: typer.Context,
    batch_id: str,
    order: "Callable[[Jobs], Awaitable[None]]",
    word: str,
    *,
    as_json: bool,
) -> Exit:
    """The server keeps the order for a worker: that of a cluster or of the service; without them,
    that of the command that runs the batch, or of the next one."""
    context.obj.batch_id = batch_id

    async def work() -> Exit:
        settings = command_settings()
        roles = roles_to_leave(settings) or ("workflows",)
        async with connected(settings, context.obj, roles, own_settings=False) as jobs:
            await order(jobs)
        say(f"batch {batch_id}: {word}")
        if as_json:
            context.obj.print_json({"batch_id": batch_id, "status": word})
        return Exit.DONE

    return run(work())


def retry(
    context: typer.Context,
    batch: BatchId,
    max_cost: MaxCost = None,
    detach: Annotated[bool, typer.Option("--detach", help="Start and return.")] = False,
    out: BatchOut = None,
    user: Owner = "",
    as_json: AsJson = False,
) -> Exit:
    """Read failed, degraded, cancelled and not started documents again; good ones stay."""
    context.obj.batch_id = batch
    output = BatchOutput(context.obj, as_json=as_json, out=out)

    async def work() -> Exit:
        from quire.cli.batch.follow import follow_batch
        from quire.cli.batch.show import show_batch
        from quire.contracts.names import ROLES
        from quire.jobs.access import Caller
        from quire.jobs.batch.control import retry_batch

        settings = command_settings()
        roles = roles_to_leave(settings) if detach else ROLES
        async with connected(settings, output.answer, roles) as jobs:
            handle = await retry_batch(jobs, batch, Caller(user), max_cost)
            if detach:
                say(f"batch {batch}: is read again")
                if as_json:
                    context.obj.print_json({"batch_id": batch, "status": "running"})
                return Exit.DONE
            await follow_batch(handle)
            return await show_batch(jobs, batch, output)

    return run(work())
