"""The page of the faults, whose kinds may be tried apart."""

from pathlib import Path

from bench.faults.line import Line
from bench.faults.report import HEAD, Section, write_report


def section(kind: str, when: str, *notes: str) -> Section:
    return Section(kind, when, [Line(f"{kind} fault", 1, 1, 0, 0, note) for note in notes])


def test_a_kind_that_is_tried_again_replaces_its_own_section_alone(tmp_path: Path) -> None:
    page, order = tmp_path / "faults.md", ["kills", "storm", "slow"]
    write_report(page, [section("storm", "on Monday", "one"), section("kills", "Monday")], order)
    write_report(page, [section("storm", "on Tuesday", "two", "a | b")], order)
    write_report(page, [section("slow", "on Sunday", "three")], order)
    text = page.read_text()
    assert text.startswith(HEAD)
    assert text.count("# Faults") == 1
    parts = [part.partition("\n")[0] for part in text.split("\n## ")[1:]]
    assert parts == order
    assert "Monday\n" in text
    assert "on Monday" not in text
    assert "| storm fault | 1 | 1 | 0 | 0 | two |\n| storm fault | 1 | 1 | 0 | 0 | a / b |" in text
