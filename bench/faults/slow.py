"""Downloads that drip, and vendors that send more than anyone can take."""

from pathlib import Path

from bench.faults.line import Line
from bench.usage import megabytes, own_peak
from testing import pdfs
from testing.s3 import BUCKET, S3Server
from testing.slow_s3 import DrippingS3
from testing.tool import Ran, Tool
from testing.vendor.behaviours import (
    Behaviour,
    vendor_never_ends,
    vendor_redirects,
    vendor_sends_bomb,
    vendor_sends_surrogates,
)
from testing.vendor.standin import StandIn
from testing.wait import wait_until
from testing.worker import RunningWorker, running_worker

DRIPPING = 6
PAGES = 8
GROWTH_AT_MOST_MB = 200.0
# Answers that count.
GOOD = {"vendor_answers", "vendor_sends_surrogates"}


def lines(folder: Path) -> list[Line]:
    """Slow origins first, then a vendor's answers without a bound."""
    document = pdfs.mixed_pdf(folder / "eight.pdf", 0, PAGES)
    return [_dripping_downloads(folder, document), *_unbounded_answers(folder, document)]


def _dripping_downloads(folder: Path, document: Path) -> Line:
    """Other documents are read in time, and each that drips ends by its deadline."""
    s3 = S3Server(folder / "s3")
    s3.start()
    try:
        s3.client().put_object(Bucket=BUCKET, Key="slow-one.pdf", Body=document.read_bytes())
        with StandIn() as vendor, DrippingS3(s3.url, "/slow-") as slow:
            tool = Tool(folder / "dripping", vendor, REQUEST_TIMEOUT="5s", **slow.settings)
            with running_worker(tool) as worker:
                client = worker.client(folder / "dripping-client")
                # All at once: the first must still be dripping when the last begins.
                begun = [
                    client.start(
                        "process", f"s3://{BUCKET}/slow-one.pdf", "--detach",
                        "--job-id", f"drip-{number}", "--deadline", "25s",
                    )
                    for number in range(DRIPPING)
                ]  # fmt: skip
                for command in begun:
                    command.communicate()
                wait_until(lambda: slow.dripping >= DRIPPING)
                good = client.process(document, "--deadline", "20s")
                ends = [
                    client.run("watch", f"drip-{n}", "--json", timeout=60.0).code
                    for n in range(DRIPPING)
                ]
                wait_until(lambda: slow.dripping == 0)
            repeated = len(vendor.calls()) - PAGES
    finally:
        s3.stop()
    read, refused = _read(good), sum(code == 3 for code in ends)
    survived = refused + (read == PAGES)
    note = f"another document took {good.seconds:.1f} s; {refused} that drip ended with a code"
    fault = f"{DRIPPING} dripping downloads, and a good one"
    return Line(fault, DRIPPING + 1, survived, PAGES - read, max(0, repeated), note)


def _unbounded_answers(folder: Path, document: Path) -> list[Line]:
    """The first model answers badly, always; the second one is well."""
    with StandIn() as vendor, StandIn() as elsewhere:
        tool = Tool(
            folder / "unbounded", vendor,
            OPENAI_PRIMARY_MODEL="sick", OPENAI_SECONDARY_MODEL="well",
        )  # fmt: skip
        faults = {
            "vendor's body never ends": vendor_never_ends(),
            "vendor's error never ends": vendor_never_ends(status=500),
            "vendor sends a gzip bomb": vendor_sends_bomb(),
            "vendor redirects": vendor_redirects(f"{elsewhere.url}/v1/chat/completions"),
            "vendor sends surrogates and controls": vendor_sends_surrogates(),
        }
        with running_worker(tool) as worker:
            client = worker.client(folder / "unbounded-client")
            # What the first document takes is not the faults' doing.
            client.process(document, "--deadline", "30s")
            return [
                _unbounded(name, fault, vendor, elsewhere, client, worker, document)
                for name, fault in faults.items()
            ]


def _unbounded(
    name: str,
    fault: Behaviour,
    vendor: StandIn,
    elsewhere: StandIn,
    client: Tool,
    worker: RunningWorker,
    document: Path,
) -> Line:
    vendor.reset()
    vendor.behave(fault, model="sick")
    before = _peak_mb(worker)
    ran = client.process(document, "--deadline", "30s", "--force", "--prompt", name)
    grew, read = _peak_mb(worker) - before, _read(ran)
    followed = len(elsewhere.calls())
    well = read == PAGES and grew < GROWTH_AT_MOST_MB and not followed
    answered = sum(call.behaviour in GOOD for call in vendor.calls())
    note = f"met by {len(vendor.calls('sick'))} calls; the worker grew by {grew:.0f} MB"
    if followed:
        note += f"; {followed} calls went elsewhere"
    return Line(name, 1, int(well), PAGES - read, max(0, answered - PAGES), note)


def _read(ran: Ran) -> int:
    """The number of pages that a model read."""
    return ran.sources().get("ai", 0) if ran.code == 0 else 0


def _peak_mb(worker: RunningWorker) -> float:
    return megabytes(own_peak(worker.pid)) or 0.0
