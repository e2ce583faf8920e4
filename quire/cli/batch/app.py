"""`batch`: the group of commands for many documents at once."""

import typer

from quire.cli.batch.control import cancel, pause, resume, retry
from quire.cli.batch.estimate import estimate
from quire.cli.batch.list import list_command
from quire.cli.batch.result import result
from quire.cli.batch.start import start
from quire.cli.batch.status import status, watch

batch = typer.Typer(no_args_is_help=True)


@batch.callback(help="Thousands of documents as one job: start, follow, pause, retry, collect.")
def group() -> None:
    """The group has no options of its own."""


batch.command()(start)
batch.command()(estimate)
batch.command()(status)
batch.command()(watch)
batch.command("list")(list_command)
batch.command()(pause)
batch.command()(resume)
batch.command()(cancel)
batch.command()(retry)
batch.command()(result)
