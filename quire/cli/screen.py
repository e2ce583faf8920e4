"""The console for standard output."""

import sys

from rich.console import Console

# The tables of a report need this width.
PIPE_WIDTH = 120


def screen() -> Console:
    """A console as wide as the terminal; in a pipe no line is wrapped.

    Markup is off: names and messages may hold brackets and colons.
    """
    in_terminal = sys.stdout.isatty()
    return Console(
        width=None if in_terminal else PIPE_WIDTH,
        soft_wrap=not in_terminal,
        highlight=False,
        markup=False,
        emoji=False,
    )
