"""A vendor's address that sends more than anyone can take: the document and the worker bear it."""

from pathlib import Path

import pytest

from testing import pdfs
from testing.prose import WORDS
from testing.tool import Tool
from testing.vendor import (
    StandIn,
    vendor_ignores_cap,
    vendor_never_ends,
    vendor_redirects,
    vendor_sends_bomb,
    vendor_sends_surrogates,
)
from testing.worker import running_worker

pytestmark = pytest.mark.servers
GROWTH_AT_MOST = 200 * 1024**2
SICK = {"model": "sick"}


def test_no_answer_takes_the_memory_or_leads_elsewhere(vendor: StandIn, tmp_path: Path) -> None:
    document = pdfs.mixed_pdf(tmp_path / "seven.pdf", 0, 7)
    # The first route meets every fault once; a single failure must not keep the others from it.
    tool = Tool(
        tmp_path / "state", vendor,
        OPENAI_PRIMARY_MODEL="sick", OPENAI_SECONDARY_MODEL="well",
        BREAKER_TRIP="window", CIRCUIT_FAIL_THRESHOLD="1.0", WHEN_BUSY="wait",
        OPENAI_API_KEY="secret-of-openai", ANTHROPIC_API_KEY="secret-of-anthropic",
    ).warmed()  # fmt: skip
    with StandIn() as elsewhere, running_worker(tool) as worker:
        client = worker.client(tmp_path / "client")
        faults = [
            vendor_never_ends(),
            vendor_never_ends(status=500),
            vendor_sends_bomb(),
            vendor_redirects(f"{elsewhere.url}/v1/chat/completions"),
            vendor_ignores_cap(5_000_000),
            vendor_sends_surrogates(f"Total\ud800 \x0017\x1b[31m\x85 EUR\uffff\n{WORDS}"),
        ]
        before = _most_bytes(worker.pid)
        for number, fault in enumerate(faults):
            vendor.behave(fault, **SICK, skip=number, first=1)
        ran = client.process(document, "--deadline", "60s")
        assert ran.code == 0, ran.err
        assert ran.sources() == {"ai": 7}, "nothing is lost"
        assert not ran.json["metadata"]["timeout_occurred"]
        met = {call.behaviour for call in vendor.calls("sick")}
        assert met == {fault.name for fault in faults} | {"vendor_answers"}
        failed = [a for page in ran.pages for a in page["attempts"] if a["outcome"] != "ok"]
        assert len(failed) == 5, "all but the odd characters, which are cleaned"
        assert "Total\ufffd 17[31m\n EUR\ufffd" in ran.text()
        assert elsewhere.calls() == [], "neither page nor key went there"
        assert _most_bytes(worker.pid) - before < GROWTH_AT_MOST


def _most_bytes(pid: int) -> int:
    """The most memory that the process ever had."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
