"""Run the stand-in by hand: `python -m testing.vendor --port 8900 --script faults.json`.

The script is what `POST /_control` takes: `{"rules": [{"behaviour": "vendor_hangs",
"model": "m"}, {"behaviour": {"name": "vendor_fails", "status": 503}, "first": 3}]}`.
"""

import argparse
import contextlib
import json
import sys
import threading
from pathlib import Path

from testing.vendor.standin import StandIn


def main() -> None:
    """Serve until interrupted; the first line on standard output is the URL."""
    parser = argparse.ArgumentParser(prog="python -m testing.vendor", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help="a JSON file of rules")
    parser.add_argument("--with-parent", action="store_true", help="end when stdin closes")
    arguments = parser.parse_args()
    with StandIn(port=arguments.port) as vendor:
        if arguments.script:
            vendor.apply(json.loads(arguments.script.read_text()))
        print(vendor.url, flush=True)  # noqa: T201
        with contextlib.suppress(KeyboardInterrupt):
            if arguments.with_parent:
                sys.stdin.read()
            else:
                threading.Event().wait()


if __name__ == "__main__":
    main()
