"""Standard output, for people."""

import sys

from rich.console import Console

# As wide as the tables of a report need.
PIPE_WIDTH = 120


def screen() -> Console:
    """As wide as the terminal; in a pipe no line is wrapped.

    What is printed is never markup: names and messages may hold brackets and colons.
    """
    in_terminal = sys.stdout.isatty()
    return Console(
        width=None if in_terminal else PIPE_WIDTH,
        soft_wrap=not in_terminal,
        highlight=False,
        markup=False,
        emoji=False,
    )
