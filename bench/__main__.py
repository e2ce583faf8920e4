"""`python -m bench [--full] [--only limit,growth]`: measure, and write `docs/benchmarks/`."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Screen

from bench import machine
from bench.findings import Part, Table
from bench.progress import in_a_line
from bench.report import Report, Run, cell
from testing.tool import ROOT, own_environment

OUT = ROOT / "docs" / "benchmarks"
ORDER = ("limit", "growth", "fleet", "documents", "peers", "peers.faults")
Measure = Callable[[bool], Part]


def known(pages: int | None = None) -> dict[str, Measure]:
    """The parts by name; each is imported when its turn comes, so that one cannot break all."""

    def later(name: str) -> Measure:
        options = {"pages": pages} if pages else {}

        def measure(full: bool) -> Part:
            found: Part = import_module(f"bench.{name}").measure(full, **options)
            return found

        return measure

    return {name: later(name) for name in ORDER if find_spec(f"bench.{name.partition('.')[0]}")}


def run(parts: Mapping[str, Measure], report: Report, *, full: bool, console: Console) -> list[str]:
    """Measure one part after the other; the names of those that failed."""
    failed = []
    for number, (name, measure) in enumerate(parts.items(), 1):
        facts = machine.facts()
        noisy = machine.warning(facts)
        _print_line(f"[{number}/{len(parts)}] {name}" + (f" ({noisy})" if noisy else ""))
        started = time.monotonic()
        try:
            part = measure(full)
        except Exception as error:
            failed.append(name)
            _print_line(f"[{number}/{len(parts)}] {name} FAILED: {in_a_line(error)}")
            report.mark_failed(name, in_a_line(error), facts, ORDER)
            continue
        seconds = time.monotonic() - started
        report.add(Run(part, facts, seconds), ORDER)
        for table in part.tables:
            if table.columns:
                console.print(_screen(table))
        for line in part.said:
            console.print(f"[bold]{escape(line)}[/bold]")
        for line in part.skipped:
            console.print(escape(f"not measured: {line}"))
        _print_line(f"[{number}/{len(parts)}] {name} done in {seconds:.0f} s")
    return failed


def _screen(table: Table) -> Screen:
    screen = Screen(title=table.title, title_justify="left", box=None, pad_edge=False)
    for column in table.columns:
        screen.add_column(column.heading, justify="right")
    for row in table.rows:
        screen.add_row(*(escape(cell(row.get(c.key), c.form)) for c in table.columns))
    return screen


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None, parts: Mapping[str, Measure] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="every case, and install peers")
    parser.add_argument("--only", help=f"of {','.join(ORDER)}; the others' numbers are kept")
    parser.add_argument("--out", type=Path, default=OUT, help="where quick/ and full/ are")
    parser.add_argument("--pages", type=int, help="at most, for a first look; needs --out")
    chosen = parser.parse_args(arguments)
    if sys.platform != "linux":
        parser.error("the benchmarks need Linux: they read CPU and memory from /proc")
    if chosen.pages and chosen.out == OUT:
        parser.error("--pages gives other numbers than those that are kept: name another --out")
    found = dict(parts or known(chosen.pages))
    if chosen.only:
        wanted = [name.strip() for name in chosen.only.split(",")]
        unknown = [name for name in wanted if name not in found]
        if unknown:
            parser.error(f"no part {', '.join(unknown)}; there are {', '.join(found)}")
        found = {name: measure for name, measure in found.items() if name in wanted}
    kind = "full" if chosen.full else "quick"
    report = Report(chosen.out / kind, f"Benchmarks: the {kind} set")
    try:
        failed = run(found, report, full=chosen.full, console=Console(width=150))
    except KeyboardInterrupt:
        _print_line(f"interrupted; what was measured is in {chosen.out / kind}")
        return 130
    _print_line(
        f"written to {chosen.out / kind}" + (f"; failed: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    # The client's settings are read here; those of measured processes are given to each.
    for name in set(os.environ) - set(own_environment()):
        if not name.startswith("QUIRE_BENCH_"):
            del os.environ[name]
    os.environ.update(own_environment())
    # Ended in either way, it takes its servers and workers along.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
