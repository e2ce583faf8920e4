"""What is left after faults, in the form of the report."""

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.findings import Column, Part, Row, Table
from bench.peers.page_marks import FAILED, IN_LOG, NAMED, NONE_MISSING, STOPPED

COLUMNS = (
    Column("fault", "fault"),
    Column("tool", "tool"),
    Column("recovered", "pages recovered"),
    Column("pages", "of"),
    Column("calls", "calls"),
    Column("repeated", "for pages answered before"),
    Column("at_once", "most at once"),
    Column("exit_code", "exit code"),
    Column("seconds", "seconds", "{:.0f}"),
    Column("truth", "says which pages are missing"),
    Column("note", "note"),
)
# What is said of a tool, by what it said itself where pages were missing.
SAYINGS = {
    NONE_MISSING: "none missing",
    NAMED: "names the missing pages",
    IN_LOG: "names them in its log only",
    FAILED: "only says that it failed",
    STOPPED: "not finished at our limit",
}
UNNAMED = "unnamed"
METHOD = """\
{pages} pages that all need a model, {slots} calls at once, {latency:.1f} s for an answer, one tool
after the other; the peers as above. A fault begins with the first call.

A page counts as recovered when the model's answer to its very picture stands in the tool's
output. Where pages are missing, a tool names them in its result, names them in its log only, only
says that it failed (its exit code is an error), or says nothing. A tool is stopped after 150 s, or
120 s where calls hang. A killed tool is run again at once with the same command: its calls are
those of both runs, its seconds those of the second. `Seconds` are of the whole process, for Quire
with the start of a server of its own.

Quire runs with its defaults but for the slots and a deadline of {deadline}, so that other models
stand by: a page may spill over to up to three routes of two vendors with as many calls each, 24 at
once where a peer has 8 (see `most at once`). A fault of one vendor is that of the peers' only one.
Then the same with one route alone (`one route`), which has as many calls at once as the peers; with
[`fail_fast`](../../settings.md#a-text-soon-or-a-models-text), for which one failure is enough; and
as advised there for an archive overnight (`overnight`). Its exit code is 0 with degraded pages by
design; `--strict` makes it 5.

Where every call gets 429 nobody can read a page, and Quire is not the first to say so: a vendor
that asks for a slower pace counts as dead only after 20 s. Where a model serves 5 calls and then
0.3 a second, one route alone can read 35 pages before the deadline of 100 s."""


def part(
    rows: Sequence[Row],
    skipped: Sequence[str],
    *,
    pages: int,
    slots: int,
    latency: float,
    deadline: str,
) -> Part:
    """All findings, of whichever tools could be measured."""
    return Part(
        "peers.faults",
        "Against peers, while vendors fail",
        METHOD.format(pages=pages, slots=slots, latency=latency, deadline=deadline),
        [Table("peers-faults", "What is left after faults", COLUMNS, rows)] if rows else [],
        said=[*_by_fault(rows), *_by_tool(rows)],
        skipped=skipped,
    )


def _by_fault(rows: Sequence[Row]) -> Iterable[str]:
    """For every fault: the first of ours beside the best of the others."""
    for fault in dict.fromkeys(str(row["fault"]) for row in rows):
        measured = [row for row in rows if row["fault"] == fault and row.get("truth")]
        own = next((row for row in measured if row["tool"] == "quire"), None)
        others = [row for row in measured if not str(row["tool"]).startswith("quire")]
        if own is None or not others:
            continue
        best = max(others, key=lambda row: (_read(row), -_seconds(row)))
        verdict = "as many as any or more" if _read(own) >= _read(best) else "**not the most**"
        yield (
            f"{fault}: quire {_read(own)} of {own['pages']} pages in {_seconds(own):.0f} s, the "
            f"best peer ({best['tool']}) {_read(best)} in {_seconds(best):.0f} s: {verdict}."
        )


def _read(row: Row) -> int:
    return int(row["recovered"] or 0)


def _seconds(row: Row) -> float:
    return float(row["seconds"] or 0)


def _by_tool(faults: Sequence[Row]) -> Iterable[str]:
    """For every tool, over all faults: what came back, and what it said of missing pages."""
    for tool in dict.fromkeys(str(row["tool"]) for row in faults):
        rows = [row for row in faults if row["tool"] == tool and row.get("truth")]
        recovered = sum(int(row["recovered"] or 0) for row in rows)
        pages = sum(int(row["pages"] or 0) for row in rows)
        said = f"{tool}: {recovered} of {pages} pages after {len(rows)} faults"
        words = "; ".join(_sayings([str(row["truth"]) for row in rows]))
        yield f"{said}; {words}." if words else f"{said}."


def _sayings(truths: Sequence[str]) -> Iterable[str]:
    by_kind = Counter(truth if truth in SAYINGS else UNNAMED for truth in truths)
    for kind, words in (*SAYINGS.items(), (UNNAMED, "pages missing that nothing speaks of")):
        if by_kind[kind]:
            yield f"{words} in {by_kind[kind]}"
