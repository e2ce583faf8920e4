"""What is said of the numbers: promises, noise, and what bounds the pace."""

from pathlib import Path
from typing import Any

import pytest

from bench import growth, limit_report, raw_mupdf
from bench.cases import Case, Measured
from bench.commands import Bare
from bench.documents import shortest
from bench.findings import Row
from bench.medians import Median
from bench.stage import Cost, History, Reading
from bench.usage import Cpu
from testing import pdfs

NOTHING: Any = None


def cost(own: int | None = None, tree: int | None = None) -> Cost:
    return Cost(Cpu(1.0, 0.5), Cpu(0.4, 0), Cpu(0.1, 0), tree, own, None, 1.9)


def reading(seconds: float) -> Reading:
    return Reading(seconds, NOTHING, History(1, 1, 1, seconds, 0.0))


def measured(*turns: tuple[float, float]) -> Measured:
    """Seconds of the bare script and of quire."""
    return Measured(
        Case(0.3, 8, len(turns), more=False),
        [Bare(bare, bare, 1.0, 1) for bare, _ in turns],
        [(reading(quire), cost()) for _, quire in turns],
    )


def test_ratio_to_the_bare_script_is_of_each_turn() -> None:
    """The machine was slower in the second turn, for both."""
    found = measured((10.0, 9.0), (20.0, 19.0), (10.0, 10.5)).of_bare
    assert found.written() == "0.95 (0.90..1.05)"


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ([0.95, 0.98, 1.02], "0.98 (0.95..1.02) times the bare script of the same turn (equal "
         "within noise); promised at most 1.00: kept."),
        ([0.95, 0.96, 0.97], "0.96 (0.95..0.97) times the bare script of the same turn; promised "
         "at most 1.00: kept."),
        ([0.99, 1.01, 1.03], "1.01 (0.99..1.03) times the bare script of the same turn (equal "
         "within noise); promised at most 1.00: **not kept**."),
    ],
)  # fmt: skip
def test_verdict_on_the_bare_script(ratios: list[float], said: str) -> None:
    assert limit_report.verdict_on_bare("case", Median.of(ratios), 1.0) == f"case: {said}"


def test_pace_comes_with_the_proof_of_what_bounds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_report, "CORES", 2)
    row: Row = {
        "pages_per_s": 40.0, "pages_per_s_range": "40.0 (38.0..41.0)", "busy_cores": 1.9,
        "worker_cpu_ms": 13.0, "children_cpu_ms": 8.0, "server_cpu_ms": 11.0, "vendor_cpu_ms": 2.0,
        "of_all_cores": 0.68,
    }  # fmt: skip
    said = limit_report.verdict_on_pace("case", row, 45.0)
    assert "40.0 (38.0..41.0) pages a second; promised 45: **not kept**." in said
    assert "13.0 ms of CPU in the worker, 8.0 in MuPDF, 11.0 in the server and 2.0" in said
    assert "of 2 x 25.0 ms that there were (68%)" in said
    assert said.endswith("1.90 of 2 cores were busy, so the machine bounds it.")
    idle = limit_report.verdict_on_pace("case", {**row, "busy_cores": 1.2}, 45.0)
    assert idle.endswith("so the machine had more.")


def test_limit_is_told_also_where_memory_cannot_be_read() -> None:
    part = limit_report.findings([measured((10.0, 9.0))], 200)
    row = part.tables[1].rows[0]
    assert (row["peak_mb"], row["server_mb"]) == (None, None)
    assert row["vendor_cpu_ms"] == pytest.approx(0.5)
    assert row["of_all_cores"] == pytest.approx(2.0 / (limit_report.CORES * 9.0))


def grown(pages: int, own: int | None, tree: int | None) -> growth.Grown:
    return growth.Grown(1, pages, 1, [reading(1.0)], cost(own, tree))


def test_memory_is_judged_of_the_worker_and_of_the_tree() -> None:
    long = [
        grown(100, 100_000_000, 250_000_000),
        grown(1000, 105_000_000, 260_000_000),
        grown(5000, 125_000_000, 280_000_000),
    ]
    alone, tree = growth.findings(long, []).said
    assert alone.startswith("Memory, worker alone: 1.25 times as much for 5,000 pages as for 100")
    assert alone.endswith("**not kept**. From 1,000 to 5,000 pages: +5.0 kB a page.")
    assert tree.startswith("Memory, worker and MuPDF: 1.12 times")
    assert tree.endswith("kept. From 1,000 to 5,000 pages: +5.0 kB a page.")


def test_unknown_memory_is_no_verdict() -> None:
    part = growth.findings([grown(100, None, None), grown(5000, None, None)], [])
    assert part.said == ()
    assert list(part.charts[0].series) == ["seconds"]
    assert part.tables[0].rows[0]["own_peak_mb"] is None


def test_quick_takes_whole_documents_up_to_so_many_pages() -> None:
    counts = {Path("a"): 13, Path("b"): 1, Path("c"): 40, Path("d"): 4}
    assert list(shortest(counts, 20)) == [Path("b"), Path("d"), Path("a")]
    assert shortest({Path("a"): 13}, 10) == {}


def test_shares_of_raw_work_are_all_pages_once(tmp_path: Path) -> None:
    """Also single pages are dealt out, and not all to the first process."""
    files = [pdfs.text_pdf(tmp_path / f"{n}.pdf", pages) for n, pages in enumerate((1, 1, 3, 1))]
    taken = [
        [(page.parent.name, page.number) for page in raw_mupdf.Share(first, 2).pages(files)]
        for first in range(2)
    ]
    assert [len(pages) for pages in taken] == [3, 3]
    assert len({*taken[0], *taken[1]}) == 6
