"""The console of a command."""

import sys

from rich.console import Console

# The tables of a report need this width.
PIPE_WIDTH = 120


def screen(*, on_stderr: bool = False) -> Console:
    """A console as wide as the terminal; in a pipe no line is wrapped.

    Markup is off: names and messages may hold brackets and colons.
    """
    in_terminal = (sys.stderr if on_stderr else sys.stdout).isatty()
    return Console(
        stderr=on_stderr,
        width=None if in_terminal else PIPE_WIDTH,
        soft_wrap=not in_terminal,
        highlight=False,
        markup=False,
        emoji=False,
    )
