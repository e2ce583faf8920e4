"""`make bench`: vision pages through the whole pipeline, against the ideal and a bare script.

All runs of a line happen one after the other in one go, so that only their ratio counts. The
tool's time is its document's, from the start of the workflow to its result; the bare script's is
its process without imports, which is to its favour.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests import pdfs
from tests.tool import ROOT, Tool
from tests.vendor.behaviours import vendor_answers_late
from tests.vendor.process import StandInProcess

CASES = ((0.0, 8), (0.3, 8), (2.0, 32))


def quire(source: Path, folder: Path, vendor: StandInProcess, slots: int) -> float:
    """Seconds of the document; one model, as the bare script has."""
    tool = Tool(folder / "state", vendor, WHEN_BUSY="wait")
    settings = {"MAX_INFLIGHT_PER_MODEL": str(slots), "PAGE_WINDOW": str(min(200, 2 * slots))}
    ran = tool.process(source, "--deadline", "10m", "--force", **settings)
    assert ran.sources() == {"ai": len(ran.pages)}, ran.err
    ends = (datetime.fromisoformat(ran.json[end]) for end in ("completed_at", "started_at"))
    completed, started = ends
    return (completed - started).total_seconds()


def bare(source: Path, folder: Path, vendor: StandInProcess, slots: int) -> float:
    """Seconds of the bare script, less what its imports take."""
    script = [sys.executable, "-m", "bench.bare"]
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", "import bench.bare"], cwd=ROOT, check=True)
    imports = time.monotonic() - started
    arguments = [str(source), str(folder / "bare.txt"), vendor.openai_url, str(slots)]
    started = time.monotonic()
    subprocess.run([*script, *arguments], cwd=ROOT, check=True)
    return time.monotonic() - started - imports


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200)
    arguments = parser.parse_args()
    table = Table(box=None, pad_edge=False)
    headings = (
        "latency",
        "slots",
        "ideal",
        "bare script",
        "quire",
        "of ideal",
        "of bare",
        "pages/s",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        folder = Path(name)
        source = pdfs.mixed_pdf(folder / "pages.pdf", 0, arguments.pages)
        for latency, slots in CASES:
            vendor.reset()
            vendor.behave(vendor_answers_late(latency))
            ideal = math.ceil(arguments.pages / slots) * latency
            plain = bare(source, folder, vendor, slots)
            ours = quire(source, folder, vendor, slots)
            table.add_row(
                f"{latency:.1f} s",
                str(slots),
                f"{ideal:.1f} s",
                f"{plain:.1f} s",
                f"{ours:.1f} s",
                f"{ours / ideal:.2f}" if ideal else "-",
                f"{ours / plain:.2f}",
                f"{arguments.pages / ours:.1f}",
            )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
