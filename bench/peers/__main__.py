"""`python -m bench.peers [--full] [--only NAME] [--json FILE]`."""

import argparse
import dataclasses
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table as Shown

from bench.findings import Number, Table
from bench.peers import measure
from bench.peers.field import PEERS


def shown(table: Table) -> Shown:
    out = Shown(title=table.title, title_justify="left", box=None, pad_edge=False)
    for column in table.columns:
        out.add_column(column.heading, justify="left", overflow="fold")
    for row in table.rows:
        out.add_row(*(written(row.get(column.key), column.form) for column in table.columns))
    return out


def written(value: Number, form: str) -> str:
    return "-" if value is None else form.format(value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=measure.__doc__)
    parser.add_argument("--full", action="store_true", help="install peers, all pages and faults")
    parser.add_argument("--only", choices=[peer.name for peer in PEERS], help="one peer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the numbers, as measured")
    arguments = parser.parse_args()
    part = measure(arguments.full, arguments.only)
    console = Console(width=170)
    for table in part.tables:
        console.print(shown(table))
        console.print()
    for line in [*part.said, *(f"skipped: {word}" for word in part.skipped)]:
        console.print(line)
    if arguments.json:
        arguments.json.write_text(json.dumps(dataclasses.asdict(part), indent=1) + "\n")


if __name__ == "__main__":
    main()
