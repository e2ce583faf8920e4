"""A report from findings: tables, charts, numbers read back, and parts that fail."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.__main__ import main
from bench.findings import Chart, Column, Part, Table
from bench.plots import draw
from bench.report import Report, Run

FACTS = {"CPU": "two cores", "cores busy before the run": "0.10", "date": "2030-01-01 00:00 UTC"}


def part(name: str = "limit", seconds: float = 4.5) -> Part:
    table = Table(
        "times",
        "Times",
        (Column("case", "case"), Column("s", "seconds", "{:.2f}"), Column("r", "ratio", "{:.1f}")),
        ({"case": "small", "s": seconds, "r": None, "only_raw": 7},),
    )
    raw = Table("runs", "Every run", (), ({"s": seconds},))
    bars = Chart("bars", "Bars", "", "s", {"us": [("small", seconds)], "them": [("small", 3.0)]})
    stacks = Chart("stacks", "Stacks", "", "s", {"a": [("x", 1.0)], "b": [("x", 2.0)]}, "stacks")
    lines = Chart("lines", "Lines", "pages", "s", {"us": [(1, 1.0), (100, 3.0)]}, "lines", True)
    charts = (bars, stacks, lines)
    return Part(name, f"The {name}", "As it is.", (table, raw), charts, ("Kept.",), ("No peer.",))


def test_tables_charts_and_numbers_are_written(tmp_path: Path) -> None:
    Report(tmp_path, "Benchmarks").add(Run(part(), FACTS, 12.0), ["limit"])
    text = (tmp_path / "README.md").read_text()
    assert "| case | seconds | ratio |\n|---|---:|---:|\n| small | 4.50 | - |" in text
    assert "| CPU | two cores |" in text
    assert "- Kept." in text
    assert "- No peer." in text
    assert "Every run" not in text
    assert "quiet" not in text
    for name in ("bars", "stacks", "lines"):
        assert f"](limit-{name}.svg)" in text
        assert ElementTree.parse(tmp_path / f"limit-{name}.svg").getroot().tag.endswith("svg")
    tables = json.loads((tmp_path / "numbers.json").read_text())["limit"]["part"]["tables"]
    assert tables[0]["rows"][0]["only_raw"] == 7
    assert tables[1]["rows"] == [{"s": 4.5}]


def test_a_busy_machine_is_told(tmp_path: Path) -> None:
    busy = {**FACTS, "cores busy before the run": "3.20"}
    Report(tmp_path, "Benchmarks").add(Run(part(), busy, 12.0), ["limit"])
    text = (tmp_path / "README.md").read_text()
    assert "not a quiet machine: 3.20 cores were busy before the run" in text


def test_same_numbers_give_the_same_picture(tmp_path: Path) -> None:
    chart = part().charts[0]
    once, again = draw(chart, tmp_path / "1.svg"), draw(chart, tmp_path / "2.svg")
    assert once.read_bytes() == again.read_bytes()
    assert len(once.read_bytes()) < 40_000


def test_only_some_parts_keep_the_numbers_of_the_others(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path))
    parts = {"limit": lambda full: part(), "growth": lambda full: part("growth")}
    assert main(out, parts) == 0
    parts["growth"] = lambda full: part("growth", 9.0)
    assert main((*out, "--only", "growth"), parts) == 0
    text = (tmp_path / "quick" / "README.md").read_text()
    assert text.index("## The limit") < text.index("| 4.50 |") < text.index("## The growth")
    assert "| 9.00 |" in text
    assert not (tmp_path / "full").exists()


def test_a_part_that_fails_stops_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(full: bool) -> Part:
        raise RuntimeError("the vendor\nis gone")

    parts = {"limit": fails, "growth": lambda full: part("growth")}
    assert main(("--out", str(tmp_path), "--full"), parts) == 1
    said = capsys.readouterr()
    assert "limit FAILED: RuntimeError: the vendor is gone\n" in said.err
    assert "seconds" in said.out
    assert "## The growth" in (tmp_path / "full" / "README.md").read_text()


def test_a_failed_measurement_marks_the_numbers_that_are_kept(tmp_path: Path) -> None:
    def fails(full: bool) -> Part:
        raise RuntimeError("the vendor is gone")

    out = ("--out", str(tmp_path))
    assert main(out, {"limit": lambda full: part(), "growth": fails}) == 1
    report = tmp_path / "quick" / "README.md"
    text = report.read_text()
    assert "RuntimeError: the vendor is gone).\n" in text, "of a part without any numbers"
    assert main(out, {"limit": fails}) == 1
    text = report.read_text()
    assert "the last measurement failed (" in text
    assert "the numbers below are older" in text
    assert "| 4.50 |" in text
    assert main(out, {"limit": lambda full: part(), "growth": lambda full: part("growth")}) == 0
    assert "failed" not in report.read_text()


def test_elsewhere_than_on_linux_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SystemExit):
        main(())
    assert "the benchmarks need Linux" in capsys.readouterr().err


def test_interrupted_keeps_what_was_measured(tmp_path: Path) -> None:
    def interrupted(full: bool) -> Part:
        raise KeyboardInterrupt

    parts = {"limit": lambda full: part(), "growth": interrupted}
    assert main(("--out", str(tmp_path)), parts) == 130
    assert list(Report(tmp_path / "quick", "").runs) == ["limit"]


@pytest.mark.parametrize("wrong", [("--only", "limit,taste"), ("--pages", "20")])
def test_wrong_options_are_refused(wrong: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(wrong, {"limit": lambda full: part()})
    assert leaving.value.code == 2
