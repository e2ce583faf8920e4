"""The metrics of a run with failover, scraped by a real Prometheus, agree with `result.json`."""

import json
import re
import shutil
import subprocess
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from domain import measures
from tests.operating.stack import expressions, metric_names, panels
from tests.operating.worker import fetch, free_port, running_worker
from tests.tool import Tool
from tests.vendor.behaviours import (
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
    vendor_refuses,
)
from tests.vendor.standin import StandIn

PRIMARY = "openai:gpt-6.1-sol"
# The SDK shows this one from the first failure on.
NOTHING_BROKE = {"temporal_workflow_task_execution_failed_total"}
# No page was read before, and every model has a price.
NOTHING_TO_SHOW = {"Answers not bought again; calls without a price"}


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """A real Prometheus that scrapes one target every second; its URL."""
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not installed (apt-get install prometheus)")
    folder.mkdir()
    config = folder / "prometheus.yml"
    config.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [
                    {"job_name": "quire", "static_configs": [{"targets": [target]}]}
                ],
            }
        )
    )
    address = f"127.0.0.1:{free_port()}"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        yield f"http://{address}"
    finally:
        process.kill()
        process.wait()


def ask(url: str, query: str) -> dict[tuple[str, ...], float]:
    """The answer of an instant query, by the values of its labels in their names' order."""
    quoted = urllib.parse.urlencode({"query": query})
    body: dict[str, Any] = json.loads(fetch(f"{url}/api/v1/query?{quoted}"))
    return {
        tuple(row["metric"][name] for name in sorted(row["metric"])): float(row["value"][1])
        for row in body["data"]["result"]
    }


def test_scraped_counters_agree_with_the_result(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(0.1))
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    vendor.behave(vendor_hangs(), model="gpt-6.1-terra", first=1)
    vendor.behave(vendor_refuses(), marker="page 8 of", first=1)
    target = f"127.0.0.1:{free_port()}"
    with (
        running_worker(tool, METRICS_ADDRESS=target, REQUEST_TIMEOUT="1s") as worker,
        prometheus(tmp_path / "prometheus", target) as url,
    ):
        ran = worker.client(tmp_path / "client").process(mixed, "--user", "ada")
        assert ran.code == 0, ran.err
        scraped = fetch(f"http://{target}/metrics")
        end = time.monotonic() + 20
        while not (documents := ask_quietly(url)) and time.monotonic() < end:
            time.sleep(0.2)
        assert documents == {("completed",): 1.0}
        by_source = ask(url, "sum by (source) (quire_pages_total)")
        by_class = ask(url, "sum by (classification) (quire_pages_total)")
        calls = ask(url, "sum by (route, outcome) (quire_vendor_calls_total)")
        tokens = ask(url, "sum by (direction) (quire_tokens_total)")
        failovers = ask(url, "sum(quire_failovers_total)")
        timeouts = ask(url, "sum by (scope) (quire_timeouts_total)")
        opened = ask(url, 'sum by (key) (quire_breaker_changes_total{state="open"})')
        calls_timed = ask(url, "sum(quire_vendor_call_duration_seconds_count)")
        open_time = ask(url, "sum by (key) (quire_breaker_open_seconds_sum)")
        in_flight = ask(url, "max(quire_vendor_calls_in_flight)")
        micro = ask(url, "sum(quire_cost_microdollars_total)")
        waits = ask(url, "sum(quire_queue_delay_seconds_count)")
        for expression in expressions():
            # A query that Prometheus cannot parse raises here.
            ask(url, expression.replace("$__rate_interval", "1m"))
        # A rate needs two scrapes of what appeared with the document's end.
        end = time.monotonic() + 20
        while (blank := blank_panels(url)) - NOTHING_TO_SHOW and time.monotonic() < end:
            time.sleep(0.5)
    pages = ran.pages
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
    assert waits[()] >= len(attempts)
    assert micro[()] == pytest.approx(meta["cost_usd"] * 1e6, abs=len(pages))
    assert blank == NOTHING_TO_SHOW
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


def ask_quietly(url: str) -> dict[tuple[str, ...], float]:
    try:
        return ask(url, "sum by (status) (quire_documents_total)")
    except OSError:
        return {}


def assert_well_formed(scraped: str) -> None:
    """Ours and the SDK's on one endpoint; every one of ours is in the catalogue."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", scraped, re.MULTILINE))
    ours = {name for name in types if name.startswith("quire_")}
    known = {measure.exposed: measure for measure in measures.ALL}
    assert ours <= set(known)
    quiet = {measures.REUSED, measures.UNPRICED, measures.COST}
    assert set(known) - ours <= {measure.exposed for measure in quiet}
    kinds = {"count": "counter", "time": "histogram", "level": "gauge"}
    assert all(types[name] == kinds[known[name].kind] for name in ours)
    assert "temporal_workflow_completed_total" in types
    assert "temporal_activity_execution_latency_seconds" in types
    for name in ours:
        for labels in re.findall(rf"^{name}\{{(.*)\}} ", scraped, re.MULTILINE):
            found = set(re.findall(r'(\w+)="', labels))
            assert set(known[name].labels) <= found


def test_without_an_address_nothing_listens(lone_tool: Tool, one_page: Path) -> None:
    """The tool itself never serves metrics: two commands at once would fight for the port."""
    address = f"127.0.0.1:{free_port()}"
    ran = lone_tool.process(one_page, METRICS_ADDRESS=address)
    assert ran.code == 0, ran.err
    with pytest.raises(OSError, match="refused"):
        fetch(f"http://{address}/metrics")
