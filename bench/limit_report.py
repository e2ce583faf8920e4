"""The report on the limit: tables, charts and whether the promises were kept."""

from collections.abc import Iterable, Sequence

from bench import spans
from bench.cases import Measured
from bench.findings import Chart, Column, Part, Row, Table
from bench.machine import cores
from bench.medians import Median, ratio
from bench.stage import ideal_seconds
from bench.usage import megabytes

# Promised for so many pages: at most so much of the ideal; no longer than the bare script.
PAGES = 200
OF_IDEAL = {(2.0, 32): 1.05}
OF_BARE = {(0.3, 8): 1.0}
# With a vendor that takes no time: so many pages a second, or the machine has no more to give.
PAGES_PER_S = {(0.0, 8): 45.0}
CORES = cores()
# From here on a machine counts as fully used: the rest is how work falls on cores.
FULLY_BUSY = 0.9
METHOD = """\
{pages} pages with text and a chart each, all of which need a model, against a stand-in vendor on
this machine that answers after the latency. The ideal is `ceil(pages / slots) * latency`.

- **quire**: the whole document on a long-running worker that has read a small document before,
  from the start of its workflow to its last event, as the server recorded them; so the survey of
  all pages and the writing of the result are included. Settings: `WHEN_BUSY=wait`,
  `MAX_INFLIGHT_PER_MODEL=slots`, `PAGE_WINDOW=2*slots` (at least 32), all else as it comes. The
  server is Temporal's dev server with the pragmas of the embedded one.
- **bare**: `bench/bare.py`, the shortest honest asyncio script: PyMuPDF, Pillow, the vendor's SDK
  and a semaphore. It is warm too: before its clock starts it has imported everything, built its
  client, drawn a page and made a call. From opening the document to the written file. It knows no
  survey, no store, no retry and no crash.

Both sides run in turns; quire gets bytes that it has not seen before each time, so that nothing
comes from its store. A run counts only if the vendor was called exactly once a page (and once more
to warm the bare script up). Times are medians, with the least and the most in brackets; `of bare`
is the median of the ratios within each turn. *From nothing* is the wall time of the whole command,
once: `starter.py process` with its own server, worker and empty store, beside the bare script with
its imports and without warming up.

CPU is of the worker, of its MuPDF children, of Temporal's server and of the stand-in vendor, apart,
from the request to its result; *of all cores* is their sum against wall time times {cores} cores.
The busy cores are of the whole machine meanwhile, with the measuring. Memory in MB of a million
bytes: the peak of worker and children together (PSS: pages they share count once), looked at twice
a second; the server's at the end (PSS); the bare script's own peak (RSS).

Where the time goes is from the program's own spans, in a run of its own, since spans have a price.
Every moment is shared equally by the slots. A slot that is calling counts as *call*; a free one
as what an attempt is still busy with (*draw* and *encode*, in a child process; *store*; the
*rest of the attempt*); without such an attempt, as *Temporal* if there is a page that waits for
nothing else (its attempt is on its way to the worker, or an end on its way to the workflow); else
as the step of the document that runs, such as the *survey* of pages not yet known. *No page left*
are free slots after the last page was begun. The parts add up to the document's time."""

CASE = (Column("latency_s", "latency", "{:g} s"), Column("slots", "slots"))


def findings(found: Sequence[Measured], pages: int) -> Part:
    rows = [_row(measured, pages) for measured in found]
    by_case = dict(zip([measured.case.name for measured in found], rows, strict=True))
    times = Table(
        "limit",
        f"{pages} vision pages: seconds",
        (
            *CASE,
            Column("ideal_s", "ideal", "{:.1f}"),
            Column("bare", "bare"),
            Column("quire", "quire"),
            Column("of_ideal", "of ideal", "{:.2f}"),
            Column("of_bare_range", "of bare"),
            Column("pages_per_s_range", "pages/s"),
            Column("cold_s", "from nothing", "{:.1f}"),
            Column("bare_cold_s", "bare from nothing", "{:.1f}"),
        ),
        rows,
    )
    costs = Table(
        "cost",
        "What a page costs",
        (
            *CASE,
            Column("worker_cpu_ms", "worker CPU ms", "{:.1f}"),
            Column("children_cpu_ms", "MuPDF CPU ms", "{:.1f}"),
            Column("server_cpu_ms", "server CPU ms", "{:.1f}"),
            Column("vendor_cpu_ms", "vendor CPU ms", "{:.1f}"),
            Column("of_all_cores", "of all cores", "{:.0%}"),
            Column("bare_cpu_ms", "bare CPU ms", "{:.1f}"),
            Column("busy_cores", f"busy of {CORES} cores", "{:.2f}"),
            Column("peak_mb", "peak MB", "{:.0f}"),
            Column("server_mb", "server MB", "{:.0f}"),
            Column("bare_peak_mb", "bare peak MB", "{:.0f}"),
            Column("events_per_page", "events", "{:.1f}"),
            Column("bytes_per_page", "bytes of history", "{:.0f}"),
        ),
        rows,
    )
    chart = Chart(
        "limit",
        f"{pages} vision pages",
        "",
        "seconds",
        {
            key: [(name, float(str(row[f"{key}_s"]))) for name, row in by_case.items()]
            for key in ("ideal", "bare", "quire")
        },
    )
    traced = [measured for measured in found if measured.shares]
    runs = Table("runs", "Every run", (), list(_runs(found)))
    return Part(
        "limit",
        "Against the limit and a bare script",
        METHOD.format(pages=pages, cores=CORES),
        (times, costs, *_where(traced), runs),
        (chart, *_where_chart(traced)),
        tuple(_verdicts(found, rows)) if pages == PAGES else (),
        tuple(
            f"{measured.case.name}: from nothing, and by spans, only in the full set"
            for measured in found
            if not measured.case.more
        ),
    )


def _row(measured: Measured, pages: int) -> Row:
    case = measured.case
    ours = Median.of([reading.seconds for reading, _ in measured.quire])
    plain = Median.of([run.seconds for run in measured.bare])
    paces = Median.of([pages / reading.seconds for reading, _ in measured.quire])
    ideal = ideal_seconds(pages, case.slots, case.latency)
    histories = [reading.history for reading, _ in measured.quire]
    costs = [cost for _, cost in measured.quire]

    def a_page(values: Iterable[float]) -> float:
        return Median.of(list(values)).value / pages

    return {
        "latency_s": case.latency,
        "slots": case.slots,
        "pages": pages,
        "runs": case.repeats,
        "ideal_s": ideal,
        "bare": plain.written(),
        "bare_s": plain.value,
        "quire": ours.written(),
        "quire_s": ours.value,
        "of_ideal": ratio(ours.value, ideal),
        "of_bare": measured.of_bare.value,
        "of_bare_range": measured.of_bare.written(),
        "pages_per_s": paces.value,
        "pages_per_s_range": paces.written(1),
        "cold_s": measured.cold_s,
        "bare_cold_s": measured.bare_cold_s,
        "worker_cpu_ms": 1e3 * a_page(cost.worker.own for cost in costs),
        "children_cpu_ms": 1e3 * a_page(cost.worker.children for cost in costs),
        "server_cpu_ms": 1e3 * a_page(cost.server.total for cost in costs),
        "vendor_cpu_ms": 1e3 * a_page(cost.vendor.total for cost in costs),
        "of_all_cores": Median.of(
            [cost.cpu_s / (CORES * reading.seconds) for reading, cost in measured.quire]
        ).value,
        "bare_cpu_ms": 1e3 * a_page(run.cpu_s for run in measured.bare),
        "busy_cores": Median.of([cost.busy_cores for cost in costs]).value,
        "peak_mb": _most_mb(cost.peak_bytes for cost in costs),
        "server_mb": _most_mb(cost.server_bytes for cost in costs),
        "bare_peak_mb": _most_mb(run.peak_bytes for run in measured.bare),
        "events_per_page": a_page(history.events for history in histories),
        "bytes_per_page": a_page(history.bytes for history in histories),
    }


def _most_mb(amounts: Iterable[int | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return megabytes(max(known)) if known else None


def _runs(found: Iterable[Measured]) -> Iterable[Row]:
    for measured in found:
        for number, (run, (reading, cost)) in enumerate(
            zip(measured.bare, measured.quire, strict=True)
        ):
            yield {
                "case": measured.case.name,
                "run": number,
                "bare_s": run.seconds,
                "quire_s": reading.seconds,
                "of_bare": reading.seconds / run.seconds,
                "cpu_s": cost.cpu_s,
                "busy_cores": cost.busy_cores,
            }


def _where(traced: Sequence[Measured]) -> Iterable[Table]:
    if not traced:
        return
    columns = [Column(part, part, "{:.2f}") for part in _parts(traced)]
    rows = [
        {"latency_s": m.case.latency, "slots": m.case.slots, **(m.shares or {})} for m in traced
    ]
    yield Table("where", "Where the time goes: seconds by spans", (*CASE, *columns), rows)


def _parts(traced: Sequence[Measured]) -> list[str]:
    """Those that took any time at all."""
    return [part for part in spans.PARTS if any((m.shares or {}).get(part) for m in traced)]


def _where_chart(traced: Sequence[Measured]) -> Iterable[Chart]:
    if not traced:
        return
    series = {
        part: [(m.case.name, (m.shares or {})[part]) for m in traced] for part in _parts(traced)
    }
    yield Chart("where", "Where the time goes", "", "seconds", series, kind="stacks")


def _verdicts(found: Sequence[Measured], rows: Sequence[Row]) -> Iterable[str]:
    for measured, row in zip(found, rows, strict=True):
        case = measured.case
        key = (case.latency, case.slots)
        if key in PAGES_PER_S:
            yield verdict_on_pace(case.name, row, PAGES_PER_S[key])
        if key in OF_IDEAL:
            value = float(str(row["of_ideal"]))
            yield (
                f"{case.name}: {value:.2f} times the ideal; promised at most "
                f"{OF_IDEAL[key]:.2f}: {_kept(value <= OF_IDEAL[key])}."
            )
        if key in OF_BARE:
            yield verdict_on_bare(case.name, measured.of_bare, OF_BARE[key])


def verdict_on_bare(name: str, of_bare: Median, promised: float) -> str:
    """The median decides; where turns fell on both sides of equal, that is said as well."""
    noise = " (equal within noise)" if of_bare.least < 1.0 < of_bare.most else ""
    return (
        f"{name}: {of_bare.written()} times the bare script of the same turn{noise}; promised at "
        f"most {promised:.2f}: {_kept(of_bare.value <= promised)}."
    )


def verdict_on_pace(name: str, row: Row, promised: float) -> str:
    """With the proof of what bounds the pace: a machine with nothing left, or ourselves."""
    pace, busy = float(str(row["pages_per_s"])), float(str(row["busy_cores"]))
    bound = "the machine bounds it" if busy >= FULLY_BUSY * CORES else "the machine had more"
    return (
        f"{name}: {row['pages_per_s_range']} pages a second; promised {promised:.0f}: "
        f"{_kept(pace >= promised)}. A page took {_ms(row, 'worker')} ms of CPU in the worker, "
        f"{_ms(row, 'children')} in MuPDF, {_ms(row, 'server')} in the server and "
        f"{_ms(row, 'vendor')} in the vendor, of {CORES} x {1e3 / pace:.1f} ms that there were "
        f"({row['of_all_cores']:.0%}); {busy:.2f} of {CORES} cores were busy, so {bound}."
    )


def _ms(row: Row, whose: str) -> str:
    return f"{row[f'{whose}_cpu_ms']:.1f}"


def _kept(promise: bool) -> str:
    return "kept" if promise else "**not kept**"
