"""The comparison in the form of the report."""

from collections.abc import Sequence

from bench.findings import Chart, Column, Part, Row, Table
from bench.peers.field import PEERS
from bench.peers.running import LATENCY_S
from bench.peers.speed import Speed, ideal_s

PROMISE = 3.5
PROMISED_FOR = 200
SPEED_COLUMNS = (
    Column("tool", "tool"),
    Column("read", "pages read"),
    Column("calls", "calls"),
    Column("at_once", "most at once"),
    Column("process_s", "whole process", "{:.1f} s"),
    Column("document_s", "document", "{:.1f} s"),
    Column("calls_span_s", "first to last call", "{:.1f} s"),
    Column("pages_per_s", "pages/s", "{:.1f}"),
    Column("peak_mb", "peak memory", "{} MB"),
    Column("image_kb", "picture", "{} kB"),
)
FAULT_COLUMNS = (
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
METHOD = (
    "The same document of pages with a chart, the same stand-in vendor on this machine "
    f"({LATENCY_S:.1f} s for an answer), the same number of calls at once, one tool after the "
    "other; Quire first and again last, and the slower of its two runs counts. Each peer is "
    "installed in an environment of its own and runs with its defaults: {peers}. `Whole process` "
    "is from the command to its end. `Document` leaves out the start: for a peer its imports, for "
    "Quire what is before the start of its workflow, and the writing of the result. Memory is the "
    "highest sum over all of a tool's processes (shares of what they have in common), for Quire "
    "with its Temporal server. A page counts as recovered when the model's answer to its very "
    "picture stands in the tool's output. A tool says the truth when every page without the "
    "model's text is named in its result, or when it ends with an error. A killed tool is run "
    "again at once with the same command: its calls are those of both runs, its seconds those of "
    "the second. Rate limits carry no hint when to come back. In the faults Quire runs "
    "with its defaults but for the slots and the deadline, so that other models stand by; "
    "then with breakers that open by the share of failed calls (`window`), and waiting for the "
    "same model (`hold`). Its exit code is 0 with degraded pages by "
    "design; `--strict` makes it 5."
)


def part(
    speeds: Sequence[Speed],
    slots: int,
    faults: Sequence[Row],
    skipped: Sequence[str],
) -> Part:
    """All findings; the first of the speeds is Quire's."""
    pages = speeds[0].pages
    title = (
        f"{pages} pages, {slots} calls at once; the vendor alone takes "
        f"{ideal_s(pages, slots):.1f} s"
    )
    peers = "; ".join(f"{peer.name} {peer.version} ({peer.note})" for peer in PEERS)
    tables = [Table("peers-speed", title, SPEED_COLUMNS, [speed.row() for speed in speeds])]
    if faults:
        tables.append(Table("peers-faults", "What is left after faults", FAULT_COLUMNS, faults))
    chart = Chart(
        "peers-seconds",
        f"Seconds for {pages} pages, {slots} calls at once",
        "tool",
        "seconds",
        {
            "whole process": [(speed.tool, speed.process_s) for speed in speeds],
            "document": [(speed.tool, speed.document_s) for speed in speeds],
        },
    )
    return Part(
        "peers",
        "Against peers",
        METHOD.format(peers=peers),
        tables,
        [chart],
        [*_ratios(speeds), *_told(faults)],
        skipped,
    )


def _ratios(speeds: Sequence[Speed]) -> list[str]:
    ours, *others = speeds
    complete = [speed for speed in others if speed.complete]
    if not ours.complete:
        return [f"Quire read {len(ours.outcome.marks)} of {ours.pages} pages: nothing to compare."]
    if not complete:
        return ["No peer read the whole document: there is nothing to compare with."]
    said = []
    for basis, ends in (("document", "start left out"), ("process", "whole process")):
        key = f"{basis}_s"
        best = min(complete, key=lambda speed: float(getattr(speed, key)))
        theirs, own = getattr(best, key), getattr(ours, key)
        said.append(
            f"{ours.pages} pages in {own:.1f} s, the fastest peer ({best.tool}) in {theirs:.1f} s "
            f"({ends}): {theirs / own:.1f} times as fast{_promise(ours.pages, theirs / own)}."
        )
    return said


def _promise(pages: int, ratio: float) -> str:
    """The promise is one for a document of some length: a short one is mostly start and end."""
    if pages < PROMISED_FOR:
        return ""
    return f"; promised {PROMISE}: {'kept' if ratio >= PROMISE else 'NOT kept'}"


def _told(faults: Sequence[Row]) -> list[str]:
    """For every tool, over all faults: what came back, and where it did not say so."""
    said = []
    for tool in dict.fromkeys(str(row["tool"]) for row in faults):
        rows = [row for row in faults if row["tool"] == tool]
        recovered = sum(int(row["recovered"] or 0) for row in rows)
        honest = sum(1 for row in rows if row["truth"] == "yes")
        said.append(
            f"{tool}: {recovered} of {sum(int(row['pages'] or 0) for row in rows)} pages after "
            f"{len(rows)} faults; in {honest} of them a user learns which pages are missing."
        )
    return said
