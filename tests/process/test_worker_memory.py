"""What one document found dead is not found out again by the next on the same worker."""

from pathlib import Path

import pytest

from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import (
    Behaviour,
    vendor_answers_late,
    vendor_cuts_connection,
    vendor_fails,
)
from testing.vendor.standin import StandIn

OTHER = "claude-sonnet-5-5"


@pytest.mark.parametrize("fault", [vendor_fails(500), vendor_cuts_connection()])
def test_second_document_makes_no_call_to_a_dead_vendor_but_for_one_probe(
    tool: Tool, vendor: StandIn, tmp_path: Path, fault: Behaviour
) -> None:
    first, second = (pdfs.mixed_pdf(tmp_path / f"{n}.pdf", n, 20) for n in (1, 2))
    # So long that every model of the dead vendor has failed three times.
    vendor.behave(vendor_answers_late(0.5))
    vendor.behave(fault, api="openai")
    with Cluster(tmp_path / "cluster") as cluster:
        cluster.start_worker(tool)
        client = tool.also(TEMPORAL_ADDRESS=cluster.address)
        assert client.process(first).sources() == {"mupdf": 1, "ai": 20}
        died = [call for call in vendor.calls() if call.api == "openai"]
        assert len(died) > 1
        ran = client.process(second, "--job-id", "second")
        called = [call for call in vendor.calls() if call.api == "openai"][len(died) :]
        assert len(called) <= 1
        assert ran.sources() == {"mupdf": 2, "ai": 20}
        assert set(ran.models()) == {OTHER}
        tried = sum(len(page["attempts"]) for page in ran.pages)
        assert tried == 20 + len(called), "what made no call is no attempt"


def test_vendor_that_is_well_again_is_found_by_the_probe(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """Every vendor died in the first document and came back before the second."""
    first, second = (pdfs.mixed_pdf(tmp_path / f"{n}.pdf", n, 6) for n in (1, 2))
    vendor.behave(vendor_fails(500))
    with Cluster(tmp_path / "cluster") as cluster:
        cluster.start_worker(tool)
        client = tool.also(TEMPORAL_ADDRESS=cluster.address)
        assert client.process(first).sources() == {"mupdf": 1, "mupdf_fallback": 6}
        vendor.reset()
        # A worker asks a vendor that looks dead once in five seconds.
        held = client.process(second, "--mode", "hold", "--deadline", "100s")
        assert held.sources() == {"mupdf": 2, "ai": 6}
