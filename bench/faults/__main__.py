"""`make faults`: does the real thing to real processes, and prints what was lost.

Each line is a kind of fault: how often it was tried, how often the document survived, how many
pages were lost, and how many calls were made for pages whose answer was already stored.
"""

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.faults import (
    absent,
    damage,
    disk,
    giants,
    hostile,
    kills,
    leaving,
    slow,
    storm,
    stuck,
    vendors,
)
from bench.faults.line import Line
from bench.faults.report import HEADINGS, Section, cells, write_report
from bench.machine import BUSY, facts

Kind = Callable[[Path], list[Line]]


def main() -> int:
    """Try every kind of fault, or the named ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=5, help="of each kind of process")
    parser.add_argument("--variants", type=int, default=200, help="of hostile files")
    parser.add_argument("--documents", type=int, default=300, help="in the storm")
    parser.add_argument("--only", help="kinds, with commas between them")
    parser.add_argument("--report", type=Path, help="write the table into this file as well")
    arguments = parser.parse_args()
    kinds: dict[str, Kind] = {
        "kills": partial(kills.lines, kills=arguments.kills),
        "leaving": leaving.lines,
        "disk": disk.lines,
        "vendors": vendors.lines,
        "damage": damage.lines,
        "slow": slow.lines,
        "absent": absent.lines,
        "hostile": partial(hostile.lines, variants=arguments.variants),
        "giants": giants.lines,
        "stuck": stuck.lines,
        "storm": partial(storm.lines, documents=arguments.documents),
    }
    wanted = arguments.only.split(",") if arguments.only else list(kinds)
    if unknown := set(wanted) - set(kinds):
        parser.error(f"no such kind: {', '.join(sorted(unknown))} (there are {', '.join(kinds)})")
    sections: list[Section] = []
    for kind in wanted:
        sections.append(_try(kind, kinds[kind]))
        if arguments.report:
            write_report(arguments.report, sections, list(kinds))
    lines = [line for section in sections for line in section.lines]
    Console(width=140).print(_table(lines))
    return 0 if all(line.well for line in lines) else 1


def _try(kind: str, tried: Kind) -> Section:
    """The section of one kind; a kind that breaks off is a line too, and the others go on."""
    known, started = facts(), time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            lines = tried(Path(folder))
        except Exception as error:
            traceback.print_exc()
            lines = [Line(f"{kind}: broke off", 1, 0, 0, 0, type(error).__name__)]
    for line in lines:
        sys.stderr.write(f"{'well' if line.well else 'LOST'}  {line.fault}\n")
    seconds = time.monotonic() - started
    sys.stderr.write(f"{kind}: {seconds:.0f} s\n")
    where = ", ".join(known[name] for name in ("CPU", "memory", "system") if name in known)
    when = f"{known['date']}, in {seconds:.0f} s, at commit {known.get('commit', 'unknown')}"
    return Section(kind, f"{when}. {where}; {known[BUSY]} cores were busy before.", lines)


def _table(lines: list[Line]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading)
    for line in lines:
        table.add_row(*cells(line))
    return table


if __name__ == "__main__":
    sys.exit(main())
