"""Progress for whoever waits: one line each on standard error."""

import sys


def tell(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)


def in_a_line(error: Exception) -> str:
    """What went wrong, short enough for a report."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
