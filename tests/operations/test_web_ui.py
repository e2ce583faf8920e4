"""Temporal's Web UI as the console, seen in a real browser while a vendor fails."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from quire.contracts.names import workflow_id
from quire.temporal.embedded import find_binary
from testing import pdfs
from testing.cluster import SOON_CONTINUED, Cluster
from testing.embedded import server_of
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_fails
from testing.vendor.standin import StandIn
from testing.worker import running_worker
from tests.operations.browser import chromium, is_there

WIDTH, HEIGHT = 1600, 1290
# What the details say of the request once it is planned, none of which the client knew in full.
ASKED = ("annual-report.pdf", "openai, tier primary", "ada", " UTC (120 s)")

needs_browser = pytest.mark.skipif(
    not is_there(), reason="needs chromium and chromedriver (make tools)"
)


@needs_browser
@pytest.mark.long
def test_what_an_operator_sees(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    """`make pictures` keeps the two pictures for the README."""
    pictures = Path(os.environ.get("PICTURES") or tmp_path)
    document = pdfs.mixed_pdf(tmp_path / "annual-report.pdf", 4, 14)
    vendor.behave(vendor_answers_late(1))
    # One page keeps the document under way until the browser has seen it.
    vendor.behave(vendor_answers_late(40), marker="page 17 of")
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    # A page that failed comes next, so that its second attempt is in view.
    tool = tool.also(BREAKER_TRIP="first", DISPATCH_MODE="fail_fast")
    with running_worker(tool) as worker, chromium(WIDTH, HEIGHT) as browser:
        client = worker.client(tmp_path / "client")
        asked = ("--user", "ada", "--deadline", "2m", "--job-id", "annual-report")
        process = client.start("process", document, "--json", *asked)
        vendor.wait_for_calls(9, timeout=60)
        home = f"{worker.ui_url}/{where(server_of(tool).address, 'annual-report')}"

        browser.open(f"{home}/user-metadata")
        shown = browser.wait_for(
            "annual-report.pdf", "dispatch", "openai:gpt-6.1-sol", "open SERVER"
        )
        for word in (*ASKED, "of 18 pages", "next try, UTC", "GW_5XX", "503", "in flight", "$"):
            assert word in shown, word
        assert "(default)" not in shown
        (pictures / "web-ui-during.png").write_bytes(browser.picture())
        browser.open(f"{home}/timeline")
        # The timeline draws only what is in view: which pages these are depends on the moment.
        browser.wait_for("recognize_page • page", " on anthropic:claude-sonnet-5-5")

        vendor.release()
        _, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        browser.open(f"{home}/timeline")
        browser.wait_for("Completed".upper(), "merge the pages")
        # Ascending: the vendor fails at the beginning.
        browser.click("Descending")
        browser.wait_for("on openai:gpt-6.1-sol", ", attempt 2")
        browser.scroll_to("Timeline")
        (pictures / "web-ui-after.png").write_bytes(browser.picture())
        browser.open(f"{home}/user-metadata")
        shown = browser.wait_for("18 of 18 pages", "ended ", "100%", *ASKED)
        assert "as of" not in shown
        browser.open(f"{home}/search-attributes")
        browser.wait_for("QuireCostUsd", "QuireEngine", "openai", "QuireFallbackPages")


@needs_browser
def test_a_continued_document_shows_what_was_asked_for(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """The summary and details of the start stay with the first run: the live ones have it all."""
    document = pdfs.mixed_pdf(tmp_path / "annual-report.pdf", 2, 30)
    vendor.behave(vendor_answers_late(0.1))
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    with (
        Cluster(tmp_path / "cluster", SOON_CONTINUED, ui=True) as cluster,
        chromium(WIDTH, HEIGHT) as browser,
    ):
        cluster.start_worker(tool)
        asked = ("--user", "ada", "--deadline", "2m", "--job-id", "long-report")
        ran = tool.process(document, *asked, TEMPORAL_ADDRESS=cluster.address)
        assert ran.code == 0, ran.err
        home = f"{cluster.ui_url}/{where(cluster.address, 'long-report')}"
        browser.open(f"{home}/user-metadata")
        shown = browser.wait_for("32 of 32 pages", "open SERVER", "GW_5XX", *ASKED)
        assert shown.count("annual-report.pdf") == 1, "this run continues another"


def where(address: str, job: str) -> str:
    """The document's place in the Web UI: its latest run."""
    described = subprocess.run(
        [find_binary(), "workflow", "describe", "-o", "json", "--address", address,
         "--workflow-id", workflow_id(job)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )  # fmt: skip
    run = json.loads(described.stdout)["workflowExecutionInfo"]["execution"]["runId"]
    return f"namespaces/default/workflows/{workflow_id(job)}/{run}"
