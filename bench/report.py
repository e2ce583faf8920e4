"""A folder of results: `README.md` for people, `numbers.json` for programs, and the charts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench import machine
from bench.findings import Chart, Column, Number, Part, Table
from bench.plots import draw


@dataclass(frozen=True)
class Run:
    """A part, and when and where it was measured: parts may be measured on different days."""

    part: Part
    facts: Mapping[str, str]
    seconds: float
    # Why a later measurement of the part gave no numbers, and when that was.
    failed: str = ""


class Report:
    """What is known so far, written again after every part: an interrupted run loses nothing."""

    def __init__(self, folder: Path, title: str) -> None:
        self._folder = folder
        self._title = title
        self.runs: dict[str, Run] = _read(folder / "numbers.json")

    def add(self, run: Run, order: Iterable[str]) -> None:
        """Take in a part in place of an earlier measurement of it, and write everything."""
        self.runs[run.part.name] = run
        self._sort(order)
        self._write(run)

    def mark_failed(
        self, name: str, why: str, facts: Mapping[str, str], order: Iterable[str]
    ) -> None:
        """Numbers that are known stay, but are said to be of an earlier measurement."""
        known = self.runs.get(name) or Run(Part(name, f"The part {name}", ""), facts, 0.0)
        said = f"{facts.get('date', '')}, commit {facts.get('commit', '')}: {why}"
        self.runs[name] = replace(known, failed=said)
        self._sort(order)
        self._write(self.runs[name])

    def _sort(self, order: Iterable[str]) -> None:
        places = {name: place for place, name in enumerate(order)}
        last = len(places)
        self.runs = dict(sorted(self.runs.items(), key=lambda item: places.get(item[0], last)))

    def _write(self, changed: Run) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for run in self.runs.values():
            for chart in run.part.charts:
                picture = self._folder / _picture(run.part, chart)
                if run is changed or not picture.exists():
                    draw(chart, picture)
        numbers = {name: asdict(run) for name, run in self.runs.items()}
        _replace(self._folder / "numbers.json", json.dumps(numbers, indent=1) + "\n")
        _replace(self._folder / "README.md", "\n".join(self._markdown()))

    def _markdown(self) -> Iterable[str]:
        yield f"# {self._title}\n"
        yield "Written by `python -m bench`; the raw numbers are in [numbers.json](numbers.json).\n"
        runs = list(self.runs.values())
        if runs:
            yield from _facts(max(runs, key=lambda run: run.facts.get("date", "")).facts)
        for run in runs:
            yield from _section(run)


def _facts(facts: Mapping[str, str]) -> Iterable[str]:
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {value} |" for name, value in facts.items())
    yield ""


def _section(run: Run) -> Iterable[str]:
    part, facts = run.part, run.facts
    yield f"## {part.title}\n"
    if run.failed:
        older = "; the numbers below are older" if part.tables else ""
        yield f"> **Warning**: the last measurement failed ({run.failed}){older}.\n"
        if not part.tables:
            return
    noisy = machine.warning(facts)
    if noisy:
        yield f"> **Warning**: {noisy}.\n"
    yield f"{part.method.strip()}\n"
    when = f"Measured {facts.get('date', '')}, commit {facts.get('commit', '')}"
    yield f"{when}, in {run.seconds:.0f} s.\n"
    for table in part.tables:
        if table.columns:
            yield from _table(table)
    for chart in part.charts:
        yield f"![{chart.title}]({_picture(part, chart)})\n"
    if part.said:
        yield "What the numbers say:\n"
        yield from (f"- {line}" for line in part.said)
        yield ""
    if part.skipped:
        yield "Not measured:\n"
        yield from (f"- {line}" for line in part.skipped)
        yield ""


def _table(table: Table) -> Iterable[str]:
    yield f"### {table.title}\n"
    yield "| " + " | ".join(column.heading for column in table.columns) + " |"
    yield "|" + "|".join(_alignment(column, table) for column in table.columns) + "|"
    for row in table.rows:
        cells = (cell(row.get(column.key), column.form) for column in table.columns)
        yield "| " + " | ".join(cells) + " |"
    yield ""


def _alignment(column: Column, table: Table) -> str:
    numbers = all(not isinstance(row.get(column.key), str) for row in table.rows)
    return "---:" if numbers else "---"


def cell(value: Number, form: str) -> str:
    """A number as its column writes it; what was not measured is a dash."""
    return "-" if value is None else form.format(value)


def _picture(part: Part, chart: Chart) -> str:
    name = chart.name if chart.name.startswith(part.name) else f"{part.name}-{chart.name}"
    return f"{name}.svg"


def _replace(path: Path, text: str) -> None:
    whole = path.with_name(path.name + ".part")
    whole.write_text(text, encoding="utf-8")
    whole.replace(path)


def _read(path: Path) -> dict[str, Run]:
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return {
        name: Run(_part(run["part"]), run["facts"], run["seconds"], run.get("failed", ""))
        for name, run in numbers.items()
    }


def _part(data: dict[str, Any]) -> Part:
    tables = [
        Table(**{**table, "columns": [Column(**column) for column in table["columns"]]})
        for table in data.pop("tables")
    ]
    charts = [
        Chart(
            **{
                **chart,
                "series": {
                    name: [(x, y) for x, y in points] for name, points in chart["series"].items()
                },
            }
        )
        for chart in data.pop("charts")
    ]
    return Part(**data, tables=tables, charts=charts)
