"""Progress for whoever waits: one line each on standard error."""

import sys


def tell(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)
