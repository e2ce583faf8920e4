"""Quire turns documents into faithful text with vision models, and always finishes."""

import sys
from contextlib import suppress
from io import TextIOWrapper

import typer

from quire.cli.cancel import cancel
from quire.cli.clean import clean
from quire.cli.doctor import doctor
from quire.cli.estimate import estimate
from quire.cli.list import list_command
from quire.cli.options import Config, Version
from quire.cli.process import process
from quire.cli.result import result
from quire.cli.retry import retry
from quire.cli.run_command import call, leave
from quire.cli.status import status
from quire.cli.watch import watch
from quire.settings import use_config

app = typer.Typer(no_args_is_help=True)


@app.callback(help=__doc__)
def program(config: Config = None, _version: Version = False) -> None:
    """The options before a command."""
    if config is not None:
        use_config(config)


app.command()(process)
app.command()(estimate)
app.command()(status)
app.command()(watch)
app.command()(result)
app.command()(retry)
app.command()(cancel)
app.command("list")(list_command)
app.command()(clean)
app.command()(doctor)


def main() -> None:
    """Run a command and end the process with its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal of another encoding, or a name that is no text, must not cost the result.
        with suppress(OSError):  # another file than it was opened with
            sys.stdout.reconfigure(errors="backslashreplace")
    leave(call(app, sys.argv[1:]))


if __name__ == "__main__":
    main()
