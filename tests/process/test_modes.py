"""What a request may say of vendors that fail: by the tool, and by a call from Python."""

import asyncio
from pathlib import Path

import quire
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_fails
from testing.vendor.standin import StandIn

PRIMARY = "gpt-6.1-sol"


def test_held_page_outlasts_an_outage_and_a_page_that_fails_fast_does_not(
    tool: Tool, vendor: StandIn, one_scan: Path
) -> None:
    """Every vendor fails for 25 s: a document of one page waits for as long as it was told to."""
    vendor.behave(vendor_fails(500))
    ran = tool.process(one_scan, "--mode", "fail_fast", "--job-id", "fast")
    assert ran.sources() == {"mupdf_fallback": 1}
    assert ran.seconds < 20, "seconds, on a machine that may be busy"
    held = tool.start("process", one_scan, "--json", "--mode", "hold", "--deadline", "10m")
    asyncio.run(asyncio.sleep(25))
    assert held.poll() is None, "it has not given up"
    vendor.reset()
    out, err = held.communicate(timeout=60)
    assert held.returncode == 0, err
    assert '"source": "ai"' in out


def test_one_model_reads_it_all(tool: Tool, vendor: StandIn, mixed: Path) -> None:
    vendor.behave(vendor_answers_late(0.2))
    assert tool.process(mixed, "--one-model").models() == {PRIMARY: 8}


def test_modes_are_asked_for_from_python(vendor: StandIn, mixed: Path, tmp_path: Path) -> None:
    vendor.behave(vendor_answers_late(0.2))
    settings = {
        "state_dir": str(tmp_path / "state"),
        "openai_base_url": vendor.openai_url,
        "anthropic_base_url": vendor.anthropic_url,
        "local_ocr": "never",
    }
    with quire.Client(**settings) as client:
        result = client.process(mixed, mode="hold", one_model=True)
    assert {page.model for page in result.pages if page.model} == {PRIMARY}
