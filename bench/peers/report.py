"""The comparison in the form of the report."""

from collections.abc import Iterable, Sequence

from bench.findings import Chart, Column, Part, Table
from bench.peers.contestants import PEERS
from bench.peers.run_tool import LATENCY_S
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
    Column("peak_mb", "peak memory", "{:.0f} MB"),
    Column("image_kb", "picture", "{} kB"),
    Column("vendor_cpu_s", "vendor CPU", "{:.2f} s"),
    Column("runs", "runs"),
)
METHOD = """\
The same document of pages with a chart, the same stand-in vendor on this machine ({latency:.1f} s
for an answer), the same number of calls at once, one tool after the other.

- **Runs**: in the full set twice, the second time in the opposite order; of Quire the slower run
  counts, of a peer the faster. Quick runs each once, and stops a tool after 40 s.
- **Peers**: each in an environment of its own, with its defaults: {peers}.
- **Quire**: `starter.py process` with a new state folder and its own server, with the settings of
  the limit: `WHEN_BUSY=wait`, `MAX_INFLIGHT_PER_MODEL=slots`, `PAGE_WINDOW=2*slots` (at least 32),
  and `LOCAL_OCR=never`. Then with pictures like the peers' (`IMAGE_DPI=200`, `IMAGE_FORMAT=png`),
  and with its defaults but for the slots and `LOCAL_OCR`.
- **Pictures** differ, as they are part of each tool's defaults: Quire sends JPEG of 100 dpi, the
  peers PNG of more pixels, which take longer to draw, to send and to take in. So a part of the
  ratio is the picture's; the row with 200 dpi PNG shows how large. `Vendor CPU` is the stand-in's.
- **Time**: `whole process` is from the command to its end. `Document` leaves out the start: for a
  peer its imports, timed before the run and after it, of which the shorter counts; for Quire what
  is before the start of its workflow. It ends for a peer with the process, for Quire when the
  result lies in the folder that was asked for.
- **Memory** is the highest sum over all of a tool's processes (PSS: what they share counts once),
  in MB of a million bytes; for Quire with its Temporal server."""


def part(
    speeds: Sequence[Speed],
    slots: int,
    skipped: Sequence[str],
) -> Part:
    """All findings, of whichever tools could be measured."""
    pages = max((speed.pages for speed in speeds), default=0)
    title = (
        f"{pages} pages, {slots} calls at once; the vendor alone takes "
        f"{ideal_s(pages, slots):.1f} s"
    )
    peers = "; ".join(f"{peer.name} {peer.version} ({peer.note})" for peer in PEERS)
    tables = [Table("peers-speed", title, SPEED_COLUMNS, [speed.row() for speed in speeds])]
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
        METHOD.format(peers=peers, latency=LATENCY_S),
        tables,
        [chart],
        list(_ratios(speeds, slots)),
        skipped,
    )


def _ratios(speeds: Sequence[Speed], slots: int) -> Iterable[str]:
    """Each of ours against the fastest peer that read everything; the first has the promise."""
    own = [speed for speed in speeds if speed.ours]
    peers = [speed for speed in speeds if not speed.ours and speed.complete]
    if not peers:
        yield "No peer read the whole document: there is nothing to compare with."
        return
    if not own:
        yield "Quire was not measured: there is nothing to compare."
    for number, ours in enumerate(own):
        if not ours.complete:
            read = len(ours.outcome.marks)
            yield f"{ours.tool} read {read} of {ours.pages} pages: nothing to compare."
            continue
        for key, ends in (("document_s", "start left out"), ("process_s", "whole process")):
            best = min(peers, key=lambda speed: float(getattr(speed, key)))
            theirs, seconds = getattr(best, key), getattr(ours, key)
            yield (
                f"{ours.tool}: {ours.pages} pages in {seconds:.1f} s, the fastest peer "
                f"({best.tool}) in {theirs:.1f} s ({ends}): {theirs / seconds:.1f} times as fast"
                f"{_promise(ours, theirs, theirs / seconds, slots) if number == 0 else ''}."
            )


def _promise(ours: Speed, theirs: float, ratio: float, slots: int) -> str:
    """The promise is one for a document of some length: a short one is mostly start and end.
    No tool is faster than the vendor, so that is said with it."""
    if ours.pages < PROMISED_FOR:
        return ""
    most = theirs / ideal_s(ours.pages, slots)
    kept = "kept" if ratio >= PROMISE else "**not kept**"
    return f" (the vendor alone would be {most:.1f} times as fast); promised {PROMISE}: {kept}"
