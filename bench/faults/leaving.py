"""A terminal that is closed, and job ids that were used before."""

import contextlib
import shutil
import subprocess
from pathlib import Path

from bench.faults.kills import page_of, stored_pages
from bench.faults.line import Line
from testing import pdfs
from testing.cluster import children_of
from testing.embedded import server_of
from testing.terminal import Terminal, alive
from testing.tool import ROOT, Ran, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn
from testing.wait import wait_until

PAGES = 40
# After so many calls the terminal is closed.
MOMENTS = (1, 12, 30)
INTERRUPTED, REFUSED = 130, 4


def lines(folder: Path) -> list[Line]:
    """Hang-ups at several moments of a document, conflicts and a replacement."""
    source = pdfs.mixed_pdf(folder / "forty.pdf", 0, PAGES)
    return [_hung_up(folder, source), _conflicts(folder, source), _replaced(folder, source)]


def _hung_up(folder: Path, source: Path) -> Line:
    survived = lost = repeated = left = 0
    for moment in MOMENTS:
        scratch = folder / f"hangup-{moment}" / "scratch"
        scratch.mkdir(parents=True)
        with StandIn() as vendor:
            vendor.behave(vendor_answers_late(0.2))
            tool = Tool(scratch.parent / "state", vendor, TMPDIR=str(scratch))
            job = ("process", str(source), "--job-id", "kept")
            terminal = Terminal([str(ROOT / "starter.py"), *job], tool.environment({}))
            wait_until(lambda: terminal.shows("kept") and len(vendor.calls()) >= moment)  # noqa: B023
            family = [*children_of(terminal.process.pid), server_of(tool).pid]
            terminal.close()
            ended = terminal.process.wait(60) == INTERRUPTED
            left += _left_behind(family, scratch)
            before, calls = stored_pages(tool), len(vendor.calls())
            ran = tool.run(*job, "--json")
            read = ran.sources().get("ai", 0) if ran.code == 0 else 0
            survived += ended and read == PAGES
            lost += PAGES - read
            again = [call for call in vendor.calls()[calls:] if page_of(call.user) in before]
            repeated += len(again)
    note = f"{left} processes and folders left"
    return Line("terminal closed", len(MOMENTS), survived if not left else 0, lost, repeated, note)


def _left_behind(family: list[int], scratch: Path) -> int:
    """Processes and files that are still there once killed ones have had their moment."""
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not any(map(alive, family)), timeout=10)
    return len([pid for pid in family if alive(pid)]) + len([*scratch.iterdir()])


def _conflicts(folder: Path, source: Path) -> Line:
    """The same id for other requests: each refused, and of two at once one."""
    with StandIn() as vendor:
        tool = Tool(folder / "conflicts", vendor)
        other = pdfs.text_pdf(folder / "other.pdf")
        job = ("--json", "--job-id", "bound")
        tool.run("process", other, *job)
        tries = [
            tool.run("process", source, *job),
            tool.run("process", other, "--pages", "1", *job),
            tool.run("process", other, "--prompt", "Shout.", *job),
        ]
        refused = len([ran for ran in tries if ran.code == REFUSED])
        race = [
            tool.start("process", document, "--json", "--job-id", "race")
            for document in (source, other)
        ]
        codes = sorted(_end(process).code for process in race)
        refused += codes == [0, REFUSED]
    tried = len(tries) + 1
    return Line("job id of another request", tried, refused, 0, 0, f"two at once end with {codes}")


def _replaced(folder: Path, source: Path) -> Line:
    """A running job that is replaced keeps what it paid for."""
    with StandIn() as vendor:
        vendor.behave(vendor_answers_late(120))
        vendor.behave(vendor_answers_late(0), first=PAGES // 2)
        tool = Tool(folder / "replaced", vendor)
        job = ("process", shutil.copy(source, folder / "own.pdf"), "--json", "--job-id", "live")
        running = tool.start(*job, "--deadline", "5m")
        wait_until(lambda: len(stored_pages(tool)) >= PAGES // 2)
        before, calls = stored_pages(tool), len(vendor.calls())
        replacing = tool.start(*job, "--force", "--replace")
        # Until the run is replaced it must not end by itself.
        shown = _end(running).code == 0
        vendor.behave(vendor_answers_late(0))
        vendor.release()
        ran = _end(replacing)
        read = ran.sources().get("ai", 0) if ran.code == 0 else 0
        again = [call for call in vendor.calls()[calls:] if page_of(call.user) in before]
    survived = int(read == PAGES and not shown)
    note = "the ended run's command shows no text"
    return Line("running job replaced", 1, survived, PAGES - read, len(again), note)


def _end(process: "subprocess.Popen[str]") -> Ran:
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err, 0.0)
