"""The report on the contest: whose run counts, ratios, and that one tool cannot end it all."""

import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.findings import Row
from bench.peers.budget import Budget, OutOfTime
from bench.peers.contest import ANSWER, Claim, Job
from bench.peers.contestants import Vlm4ocr, Vlmparse
from bench.peers.fault_report import part as fault_part
from bench.peers.faults import THIRD_429, suffer, try_well
from bench.peers.page_marks import marks_in
from bench.peers.quire_variants import fastest, large_pictures, one_route
from bench.peers.report import part
from bench.peers.run_tool import LOG, Outcome, claim_of
from bench.peers.speed import Speed, compare, settled
from bench.stage import settings_for
from testing.vendor.process import StandInProcess


def speed(tool: str, seconds: float, read: int = 200, *, ours: bool = False) -> Speed:
    marks = frozenset(map(str, range(read)))
    outcome = Outcome(0, seconds, None, 1.0, [], marks, Claim())
    return Speed(tool, ours, 200, outcome, seconds - 1)


@pytest.mark.parametrize(("ours", "verdict"), [(10.0, "kept"), (20.0, "**not kept**")])
def test_promise_is_judged_against_the_fastest_complete_peer(ours: float, verdict: str) -> None:
    own = [speed("quire", ours, ours=True), speed("quire, 200 dpi PNG", 25, ours=True)]
    peers = [speed("half", 5, 199), speed("slow", 50), speed("fast", 40)]
    said = list(part([*own, *peers], 8, []).said)
    assert len(said) == 4
    assert all("(fast)" in line for line in said)
    assert all(line.endswith(f"promised 3.5: {verdict}.") for line in said[:2])
    assert "(the vendor alone would be 5.3 times as fast); promised" in said[1]
    assert all("promised" not in line for line in said[2:])
    assert said[3].startswith("quire, 200 dpi PNG: 200 pages in 25.0 s")
    assert "1.6 times as fast" in said[3]


def test_nothing_to_compare_is_said() -> None:
    assert "No peer" in part([speed("quire", 9, ours=True)], 8, []).said[0]
    assert "Quire was not measured" in part([speed("fast", 9)], 8, []).said[0]
    assert (
        "quire read 7 of 200"
        in part([speed("quire", 9, 7, ours=True), speed("a", 9)], 8, []).said[0]
    )
    assert part([], 8, ["quire: gone"]).skipped == ["quire: gone"]


def test_our_worse_run_and_the_better_one_of_a_peer_count() -> None:
    assert settled([speed("quire", 9, ours=True), speed("quire", 8, ours=True)]).process_s == 9
    assert settled([speed("peer", 9), speed("peer", 8)]).process_s == 8
    assert settled([speed("peer", 9), speed("peer", 2, 100)]).process_s == 9
    assert settled([speed("quire", 9, ours=True), speed("quire", 2, 1, ours=True)]).process_s == 2
    assert settled([speed("peer", 9), speed("peer", 8)]).row()["runs"] == 2


def fault_row(tool: str, recovered: int | None, said: str | None = "", took: float = 5) -> Row:
    return {
        "fault": "f",
        "tool": tool,
        "pages": 10,
        "truth": said,
        "recovered": recovered,
        "seconds": took,
    }


def verdicts(*rows: Row) -> list[str]:
    found = fault_part(rows, [], pages=10, slots=8, latency=0.3, deadline="1m")
    return list(found.said)


def test_what_tools_say_of_missing_pages_is_summed_up() -> None:
    (line,) = verdicts(
        fault_row("peer", 10, "none is missing"),
        fault_row("peer", 4, "only says that it failed"),
        fault_row("peer", 0, "only says that it failed"),
        fault_row("peer", 7, "no: 3 pages missing unnamed"),
        fault_row("peer", None, None),
    )
    assert line == (
        "peer: 21 of 40 pages after 4 faults; none missing in 1; only says that it failed in 2; "
        "pages missing that nothing speaks of in 1."
    )


@pytest.mark.parametrize(
    ("read", "verdict"), [(9, "as many as any or more"), (8, "**not the most**")]
)
def test_each_fault_is_judged_against_the_peer_that_reads_most(read: int, verdict: str) -> None:
    first, *_ = verdicts(
        fault_row("quire", read, "names them"),
        fault_row("quire, overnight", 10, "none is missing"),
        fault_row("soon", 9, "names them", took=4),
        fault_row("late", 9, "names them", took=7),
        fault_row("gone", None, None),
    )
    assert first == (
        f"f: quire {read} of 10 pages in 5 s, the best peer (soon) 9 in 4 s: {verdict}."
    )


def test_half_a_result_names_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path / "x.pdf", tmp_path, "http://127.0.0.1:1/v1", "http://127.0.0.1:1", 8)
    job.out.mkdir()
    (tmp_path / LOG).write_text("")
    (job.out / "result.json").write_text('{"errors": [nul')
    assert claim_of(Vlm4ocr(tmp_path), job).note == "its result cannot be read (JSONDecodeError)"
    with zipfile.ZipFile(job.out / "pages.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.json", "seen-0123456789ab " * 9)
    whole = (job.out / "pages.zip").read_bytes()
    assert marks_in(job.out) == {"0123456789ab"}
    for half in (whole[:40], whole[:42] + b"\xff" * 9 + whole[51:]):
        (job.out / "pages.zip").write_bytes(half)
        assert marks_in(job.out) == set()
        assert "cannot be read" in claim_of(Vlmparse(tmp_path), job).note


def test_budget_bounds_each_run_and_all_together() -> None:
    assert Budget().limit(900.0) == 900.0
    quick = Budget(each_s=40.0, in_all_s=90.0)
    assert quick.limit(900.0) == 40.0
    assert quick.limit(30.0) == 30.0
    late = Budget(each_s=40.0, in_all_s=90.0, started=time.monotonic() - 65)
    assert 20.0 < late.limit(900.0) <= 25.0
    with pytest.raises(OutOfTime, match="the 90 s of this set were used up"):
        Budget(each_s=40.0, in_all_s=90.0, started=time.monotonic() - 85).limit(900.0)


def test_quire_runs_as_the_limit_runs_it() -> None:
    assert fastest(8).settings == settings_for(8)
    assert fastest(8).settings.items() < large_pictures(8).settings.items()
    assert one_route("1m").settings["ROUTE_CHAIN"].count(":") == 1


@dataclass(frozen=True)
class Broken:
    """A contestant whose program is not there."""

    name: str = "broken"
    answer: str = ANSWER

    def command(self, job: Job) -> list[str]:
        return [str(job.folder / "no-such-program")]

    def environment(self, job: Job) -> dict[str, str]:
        return {}

    def imports_s(self) -> float:
        return 0.0

    def document_s(self, job: Job) -> float | None:
        return None

    def claim(self, job: Job, log: str) -> Claim:
        return Claim()


@dataclass(frozen=True)
class Silent(Broken):
    """A contestant that ends at once and has read nothing."""

    name: str = "silent"

    def command(self, job: Job) -> list[str]:
        return ["true"]


def test_a_tool_that_cannot_run_is_a_line_and_ends_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with StandInProcess() as vendor:
        speeds, failed = compare(
            [Silent("quire")],
            [Broken(), Silent()],
            vendor,
            tmp_path,
            2,
            8,
            rounds=1,
            budget=Budget(),
        )
        rows = suffer([THIRD_429], [Broken(), Silent()], vendor, tmp_path, 2, 8, Budget())
        used_up = Budget(in_all_s=5.0)
        late = suffer([THIRD_429], [Silent("late")], vendor, tmp_path, 2, 8, used_up)
    assert [one.tool for one in speeds] == ["quire", "silent"]
    assert [line.partition(":")[0] for line in failed] == ["broken, run 1"]
    assert str(rows[0]["note"]).startswith("not measured: FileNotFoundError")
    assert rows[1]["truth"] == "no: 2 pages missing unnamed"
    assert late[0]["note"] == "not measured: OutOfTime: the 5 s of this set were used up"
    text = fault_part([*rows, *late], failed, pages=2, slots=8, latency=0.3, deadline="1m")
    assert "broken: 0 of 0 pages after 0 faults." in text.said
    said = capsys.readouterr().err
    assert "silent, run 1: 0 of 2 pages" in said
    assert f"{THIRD_429.name}: silent: 0 of 2 pages" in said


def test_tool_that_cannot_read_here_is_not_said_to_suffer(tmp_path: Path) -> None:
    with StandInProcess() as vendor:
        able, failed = try_well([Broken(), Silent()], vendor, tmp_path, 8, Budget())
    assert able == []
    assert failed[0].startswith("broken: with a vendor that is well: FileNotFoundError")
    assert failed[1].endswith("no page read, exit code 0")
