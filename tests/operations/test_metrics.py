"""The metrics of a run with failover, scraped by a real Prometheus, agree with `result.json`."""

import asyncio
import json
import re
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import TaskQueueType

from quire.contracts.names import DOCUMENTS_QUEUE, WORKFLOW_QUEUE
from quire.settings import Settings
from quire.telemetry import metrics
from quire.telemetry.metrics import Measure
from quire.temporal.connect import connect, waiting_tasks
from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import (
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
    vendor_refuses,
)
from testing.vendor.standin import StandIn
from testing.wait import wait_until
from testing.worker import fetch, free_port, running_worker
from tests.operations.prometheus import ask, prometheus, until
from tests.operations.stack import expressions, metric_names, panels

PRIMARY, SECONDARY = "openai:gpt-6.1-sol", "openai:gpt-6.1-terra"
POLLS, POLLS_FAILED = "temporal_long_request_total", "temporal_long_request_failure_total"
# The SDK shows these from the first failure on.
NOTHING_BROKE = {"temporal_workflow_task_execution_failed_total", POLLS_FAILED}


def scraping(target: str) -> dict[str, Any]:
    """A configuration that looks at one target every second."""
    job = {"job_name": "quire", "static_configs": [{"targets": [target]}]}
    return {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}


def test_scraped_counters_agree_with_the_result(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(0.1))
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    vendor.behave(vendor_hangs(), model="gpt-6.1-terra", first=1)
    vendor.behave(vendor_refuses(), marker="page 8 of", first=1)
    target = f"127.0.0.1:{free_port()}"
    fail_fast = tool.also(BREAKER_TRIP="first", DISPATCH_MODE="fail_fast")
    with (
        running_worker(fail_fast, METRICS_ADDRESS=target, REQUEST_TIMEOUT="1s") as worker,
        prometheus(tmp_path / "prometheus", scraping(target)) as url,
    ):
        until(url, "quire_documents_total")
        ran = worker.client(tmp_path / "client").process(mixed, "--user", "ada")
        assert ran.code == 0, ran.err
        scraped = fetch(f"http://{target}/metrics")
        documents = until(url, "sum by (status, code) (quire_documents_total) > 0")
        assert documents == {("none", "completed"): 1.0}
        # The first document of this worker is one for rates too, and so are its pages.
        assert until(url, "sum(increase(quire_documents_total[1m])) > 0")
        grown = until(url, "sum by (source) (increase(quire_pages_total[1m])) > 0")
        by_source = ask(url, "sum by (source) (quire_pages_total) > 0")
        by_class = ask(url, "sum by (classification) (quire_pages_total) > 0")
        calls = ask(url, "sum by (route, outcome) (quire_vendor_calls_total) > 0")
        tokens = ask(url, "sum by (direction) (quire_tokens_total)")
        failovers = ask(url, "sum(quire_failovers_total)")
        timeouts = ask(url, "sum by (scope) (quire_timeouts_total) > 0")
        opened = ask(url, 'sum by (key) (quire_breaker_changes_total{state="open"})')
        calls_timed = ask(url, "sum(quire_vendor_call_duration_seconds_count)")
        open_time = ask(url, "sum by (key) (quire_breaker_open_seconds_sum)")
        in_flight = ask(url, "max(quire_vendor_calls_in_flight)")
        slots = ask(url, "sum by (route) (quire_slots)")
        micro = ask(url, "sum(quire_cost_microdollars_total)")
        waits = ask(url, "sum(quire_queue_delay_seconds_count)")
        for expression in expressions():
            # A query that Prometheus cannot parse raises here.
            ask(url, expression.replace("$__rate_interval", "1m"))
        # A rate needs two scrapes of what appeared with the document's end.
        end = time.monotonic() + 20
        while (blank := blank_panels(url)) and time.monotonic() < end:
            time.sleep(0.5)
    pages = ran.pages
    assert set(grown) == {(source,) for source in ran.sources()}
    assert by_source == {(s,): n for s, n in ran.sources().items()}
    assert by_class == {(c,): n for c, n in Counter(p["classification"] for p in pages).items()}
    attempts = [attempt for page in pages for attempt in page["attempts"]]
    assert calls == Counter((a["outcome"], a["route"]) for a in attempts)
    assert sum(calls.values()) == len(vendor.calls()) == calls_timed[()] == len(attempts)
    meta = ran.json["metadata"]
    # The refusal was billed: it is in the vendor's account, in the metrics and in the result.
    assert pages[7]["attempts"][0]["outcome"] == "CONTENT"
    billed = vendor.billed()
    assert (meta["input_tokens"], meta["output_tokens"]) == billed
    assert tokens == {("input",): billed[0], ("output",): billed[1]}
    moves = [
        1
        for page in pages
        for one, two in zip(page["attempts"], page["attempts"][1:], strict=False)
        if one["route"] != two["route"]
    ]
    assert failovers == {(): len(moves)}
    assert timeouts == {("attempt",): 1}
    assert opened[PRIMARY,] == 1
    assert open_time[PRIMARY,] > 0
    assert in_flight == {(): 0}
    assert slots[PRIMARY,] == 2
    assert waits[()] >= len(attempts)
    assert micro[()] == pytest.approx(meta["cost_usd"] * 1e6, abs=len(pages))
    assert blank == set()
    assert_well_formed(scraped)
    of_sdk = {n for e in expressions() for n in metric_names(e) if n.startswith("temporal_")}
    assert {name for name in of_sdk if f"\n{name}{{" not in scraped} == NOTHING_BROKE


def blank_panels(url: str) -> set[str]:
    """The dashboard's panels that would show nothing."""
    return {
        title
        for title, queries in panels().items()
        if not any(ask(url, query.replace("$__rate_interval", "1m")) for query in queries)
    }


def assert_well_formed(scraped: str) -> None:
    """Ours and the SDK's on one endpoint; ours are those of the catalogue."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", scraped, re.MULTILINE))
    ours = {name for name in types if name.startswith("quire_")}
    known = {measure.exposed: measure for measure in metrics.ALL}
    assert ours == set(known)
    kinds = {"count": "counter", "time": "histogram", "level": "gauge"}
    assert all(types[name] == kinds[known[name].kind] for name in ours)
    assert "temporal_workflow_completed_total" in types
    assert "temporal_activity_execution_latency_seconds" in types
    for name in ours:
        shown = series_of(name, scraped)
        assert all(set(known[name].labels) <= set(labels) for labels, _ in shown)
        # A zero with other labels than the count that follows would stand beside it for ever.
        own = [tuple(labels[label] for label in known[name].labels) for labels, _ in shown]
        assert len(own) == len(set(own)), name


def series_of(name: str, scraped: str) -> list[tuple[dict[str, str], float]]:
    """The labels and the value of every series of a metric."""
    lines = re.findall(rf"^{name}\{{(.*)\}} (\S+)$", scraped, re.MULTILINE)
    return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(n)) for labels, n in lines]


def counted(measure: Measure, scraped: str) -> dict[tuple[str, ...], float]:
    """What a counter has counted, by the values of its own labels; without zeroes."""
    return {
        tuple(labels[label] for label in measure.labels): value
        for labels, value in series_of(measure.exposed, scraped)
        if value
    }


def test_worker_shows_every_series_before_its_first_document(tool: Tool) -> None:
    address = f"127.0.0.1:{free_port()}"
    with running_worker(tool, METRICS_ADDRESS=address):
        scraped = fetch(f"http://{address}/metrics")
    shown = {m.exposed: series_of(m.exposed, scraped) for m in metrics.ALL if m.kind == "count"}
    assert [name for name, found in shown.items() if not found] == []
    assert {value for found in shown.values() for _, value in found} == {0}
    assert sum(map(len, shown.values())) < 300, "a scrape stays small"
    assert {value for _, value in series_of("quire_slots", scraped)} == {2}


def test_jobs_retries_and_the_depth_of_queues_are_counted(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """One page is refused once in hold mode; then a person has two pages read again."""
    vendor.behave(vendor_fails(503), first=1)
    address = f"127.0.0.1:{free_port()}"
    held = tool.also(
        ROUTE_CHAIN=PRIMARY, DISPATCH_MODE="hold", BREAKER_TRIP="window", RETRY_BASE_DELAY="100ms",
        RETRY_JITTER_MAX="0s",
    )  # fmt: skip
    document = pdfs.mixed_pdf(tmp_path / "some.pdf", 1, 3)
    with running_worker(held, METRICS_ADDRESS=address) as worker:
        client = worker.client(tmp_path / "client")
        assert client.process(document, "--job-id", "kept").code == 0
        first = fetch(f"http://{address}/metrics")
        assert client.run("retry", "kept", "--pages", "2-3", "--json").code == 0
        assert client.run("watch", "kept", "--json").code == 0
        second = fetch(f"http://{address}/metrics")
    assert counted(metrics.JOBS_CREATED, first) == {(): 1}
    assert counted(metrics.RETRIES, first) == {("round",): 1}
    assert counted(metrics.RETRIES, second) == {("round",): 1, ("person",): 2}
    assert counted(metrics.JOBS_CREATED, second) == {(): 2}
    depths = series_of(metrics.QUEUE_DEPTH.exposed, second)
    assert {labels["queue"] for labels, _ in depths} >= {WORKFLOW_QUEUE, DOCUMENTS_QUEUE}


@pytest.mark.servers
async def test_tasks_that_wait_are_in_the_depth_of_their_queue(tmp_path: Path) -> None:
    """Nobody serves the queue, so what is started waits in it."""
    with Cluster(tmp_path / "cluster") as cluster:
        client = await connect(Settings(), cluster.address)
        for number in range(3):
            await client.start_workflow("Any", id=f"w{number}", task_queue="unserved")
        kind = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
        end = time.monotonic() + 20
        while (depth := await waiting_tasks(client, "unserved", kind)) != 3:
            assert time.monotonic() < end, depth
            await asyncio.sleep(0.2)


def test_attempt_that_is_crowded_out_is_counted_and_logged(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """The queue delay knows only those that got their slot."""
    vendor.behave(vendor_answers_late(5))
    address = f"127.0.0.1:{free_port()}"
    # Who has one route alone waits for it, and is not crowded out.
    busy = tool.also(
        ROUTE_CHAIN=f"{PRIMARY},{SECONDARY}", MAX_INFLIGHT_PER_MODEL="1", LOG_FORMAT="json"
    )
    with running_worker(busy, METRICS_ADDRESS=address) as worker:
        client = worker.client(tmp_path / "client")
        for number in (1, 2, 3):
            document = pdfs.mixed_pdf(tmp_path / f"{number}.pdf", number, 1)
            assert client.run("process", document, "--detach").code == 0
        worker.wait_for("attempt_crowded_out")
        scraped = fetch(f"http://{address}/metrics")
    lines = [json.loads(line) for line in worker.lines if "attempt_crowded_out" in line]
    routes = {line["route"] for line in lines}
    assert routes <= {PRIMARY, SECONDARY}
    crowded = counted(metrics.CROWDED_OUT, scraped)
    assert sum(crowded.get((route,), 0) for route in routes) >= 1
    assert {line["page"] for line in lines} <= {2, 3, 4}
    assert {line["attempt"] for line in lines} == {1}


def test_document_that_could_not_be_fetched_in_time_counts_as_late(
    lone_tool: Tool, tmp_path: Path
) -> None:
    address = f"127.0.0.1:{free_port()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        running_worker(lone_tool, METRICS_ADDRESS=address, ALLOW_PRIVATE_URLS="true") as worker,
    ):
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/never.pdf"
        client = worker.client(tmp_path / "client")
        assert client.run("process", url, "--deadline", "2s").code == 3
        scraped = fetch(f"http://{address}/metrics")
    assert counted(metrics.TIMEOUTS, scraped) == {("document",): 1}
    assert counted(metrics.DOCUMENTS, scraped) == {("failed", "GW_TIMEOUT", "retryable"): 1}


def test_without_an_address_nothing_listens(lone_tool: Tool, one_page: Path) -> None:
    """The tool itself never serves metrics: two commands at once would fight for the port."""
    address = f"127.0.0.1:{free_port()}"
    ran = lone_tool.process(one_page, METRICS_ADDRESS=address)
    assert ran.code == 0, ran.err
    with pytest.raises(OSError, match="refused"):
        fetch(f"http://{address}/metrics")


def test_polls_in_vain_are_counted_as_the_alert_has_them(lone_tool: Tool, tmp_path: Path) -> None:
    """By the SDK: its names are not ours, and may change with it."""
    address = f"127.0.0.1:{free_port()}"
    with (
        Cluster(tmp_path / "cluster") as cluster,
        running_worker(lone_tool, METRICS_ADDRESS=address, TEMPORAL_ADDRESS=cluster.address),
    ):
        # The SDK gives a worker up whose server dies before its first poll.
        wait_until(lambda: series_of(POLLS, fetch(f"http://{address}/metrics")))
        cluster.kill_server()
        end = time.monotonic() + 30
        while not (
            failed := series_of(POLLS_FAILED, scraped := fetch(f"http://{address}/metrics"))
        ):
            assert time.monotonic() < end
            time.sleep(0.2)
    assert all(labels["status_code"] for labels, _ in failed)
    polls = sum(count for _, count in series_of(POLLS, scraped))
    assert polls >= sum(count for _, count in failed) > 0, "the total counts those that failed too"
