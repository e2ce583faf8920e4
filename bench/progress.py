"""Progress for the person who waits: one line each on standard error."""

import sys


def print_progress(line: str) -> None:
    """One indented line, at once."""
    print(f"  {line}", file=sys.stderr, flush=True)


def in_a_line(error: Exception) -> str:
    """What went wrong, short enough for a report."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
