"""A document whose history is cut: its last run shows all that happened."""

import json
import re
from pathlib import Path

from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey

from quire.contracts.names import workflow_id
from quire.domain.document.details import GAP
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.cluster import SOON_CONTINUED, Cluster
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_fails
from testing.vendor.standin import StandIn
from testing.worker import fetch, free_port

FAILING = "openai:gpt-6.1-sol"


async def test_next_run_goes_on_telling(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    vendor.behave(vendor_answers_late(0.1))
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    metrics = f"127.0.0.1:{free_port()}"
    # The breaker opens once, and stays open until the document ends.
    tool = tool.also(BREAKER_TRIP="first", BREAKER_BASE_BACKOFF="10m", BREAKER_MAX_BACKOFF="10m")
    document = pdfs.mixed_pdf(tmp_path / "report.pdf", 2, 30)
    with Cluster(tmp_path / "cluster", SOON_CONTINUED) as cluster:
        cluster.start_worker(tool, LOG_FORMAT="json", METRICS_ADDRESS=metrics)
        arguments = ("--json", "--user", "ada", "--job-id", "cut")
        process = tool.start("process", document, *arguments, TEMPORAL_ADDRESS=cluster.address)
        vendor.wait_for_calls(3, timeout=60)
        client = await connect(Settings(), cluster.address)
        handle = client.get_workflow_handle(workflow_id("cut"))
        begun = await handle.describe()
        assert begun.status is WorkflowExecutionStatus.RUNNING
        assert await begun.static_summary() == "report.pdf"
        engine = begun.typed_search_attributes.get(SearchAttributeKey.for_keyword("QuireEngine"))
        assert engine == "openai", "the client did not know it"

        _, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        last = await handle.describe()
        assert last.run_id != begun.run_id
        assert last.close_time is not None
        assert await last.static_summary() is None, "Temporal carries it now: show it once only"
        details = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
        scraped = fetch(f"http://{metrics}/metrics")
        log = (tmp_path / "cluster" / "worker-0.log").read_text()
    shown = details.current_details.replace(GAP, " ")
    for words in (
        "32 of 32 pages",
        "| file | report.pdf |",
        "| engine | openai, tier primary |",
        "| owner | ada |",
        "UTC (180 s) |",
        f"| {FAILING} | GW_5XX |",
        "| ai | 30 | 3-32 |",
    ):
        assert words in shown, words
    read = re.findall(
        r"^\| \w+:\S+ \| (?:open SERVER|closed) \|.*\| (\d+) \|$", shown, re.MULTILINE
    )
    assert sum(map(int, read)) == 30, "those of every run"

    lines = [json.loads(line) for line in log.splitlines()]
    changed = [line for line in lines if line["event"] == "breaker_changed"]
    assert [(line["route"], line["breaker"]) for line in changed] == [(FAILING, "open")]
    of_breaker = rf"{{[^}}]*key=\"{FAILING}\"[^}}]*}} (\S+)$"
    opened = re.findall("^quire_breaker_changes_total" + of_breaker, scraped, re.MULTILINE)
    assert [float(times) for times in opened if float(times)] == [1]
    [seconds] = re.findall("^quire_breaker_open_seconds_sum" + of_breaker, scraped, re.MULTILINE)
    assert float(seconds) > (last.close_time - last.start_time).total_seconds()
