"""The worker's log as JSON: every line can be joined with the document it speaks of."""

import json
import socket
from pathlib import Path

import pytest

from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import vendor_echoes_secrets
from testing.vendor.standin import StandIn
from testing.wait import wait_until
from testing.worker import fetch, free_port, running_worker

SECRET = "sk-do-not-log-me"


def test_every_line_says_of_which_document_it_speaks(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_echoes_secrets(503), model="gpt-6.1-sol")
    with running_worker(tool, LOG_FORMAT="json", OPENAI_API_KEY=SECRET) as worker:
        ran = worker.client(tmp_path / "client").process(mixed, "--job-id", "logged")
        assert ran.code == 0, ran.err
    whole = "".join(worker.lines)
    lines = [json.loads(line) for line in worker.lines]
    assert all({"event", "level", "timestamp"} <= set(line) for line in lines)
    ours = [line for line in lines if "workflow_id" in line]
    assert {line["job_id"] for line in ours} == {"logged"}
    assert {line["workflow_id"] for line in ours} == {"document-logged"}
    assert len({line["run_id"] for line in ours}) == 1

    read = [line for line in ours if line["event"] == "page_read"]
    assert sorted(line["page"] for line in read) == [p["page"] for p in ran.pages if p["model"]]
    for line in read:
        page = ran.pages[line["page"] - 1]
        assert line["route"] == f"{page['provider']}:{page['model']}"
        assert line["duration_ms"] == page["attempts"][-1]["milliseconds"]
        assert line["attempt"] == len(page["attempts"]), "as the Web UI counts"
        assert "try" not in line
    assert {line["attempt"] for line in read} >= {1, 2}
    failed = [line for line in ours if line["event"] == "attempt_failed"]
    assert {(line["error_code"], line["outcome"]) for line in failed} == {("GW_5XX", "SERVER")}
    assert {(line["level"], line["http_status"]) for line in failed} == {("warning", 503)}
    changed = [line for line in ours if line["event"] == "breaker_changed"]
    assert [(line["route"], line["breaker"]) for line in changed] == [
        ("openai:gpt-6.1-sol", "open")
    ]
    (done,) = [line for line in ours if line["event"] == "document_completed"]
    assert done["pages"] == 12
    assert done["duration_ms"] > 0

    assert SECRET not in whole
    assert "harbour master" not in whole, "no page text"
    assert "Read by" not in whole, "no answer"


def test_refused_document_is_logged_with_its_code(lone_tool: Tool, tmp_path: Path) -> None:
    with running_worker(lone_tool, LOG_FORMAT="json", MAX_PAGES="1") as worker:
        long = pdfs.text_pdf(tmp_path / "long.pdf", 2)
        assert worker.client(tmp_path / "client").process(long).code == 3
    lines = [json.loads(line) for line in worker.lines]
    (failed,) = [line for line in lines if line["event"] == "document_failed"]
    assert failed["error_code"] == "TOO_LARGE"
    assert failed["reason"] == "PAGES"
    assert failed["level"] == "warning"


def test_step_that_is_tried_again_is_told_of(
    lone_tool: Tool, one_page: Path, tmp_path: Path
) -> None:
    """A worker whose store is broken must not look idle."""
    nowhere = {
        "STORE_URL": "s3://bucket/store",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
    }
    with running_worker(lone_tool, LOG_FORMAT="json", **nowhere) as worker:
        client = worker.client(tmp_path / "client")
        ran = client.process(one_page, "--deadline", "12s", "--job-id", "stuck")
        assert ran.code == 3, "the deadline passed"
    lines = [json.loads(line) for line in worker.lines]
    failures = [line for line in lines if line["event"] == "step_failed"]
    assert [line.get("try", 1) for line in failures[:2]] == [1, 2]
    for line in failures:
        assert (line["error_code"], line["reason"]) == ("IO_ERROR", "STORAGE")
        assert (line["step"], line["job_id"]) == ("ingest_source", "stuck")
    assert SECRET not in "".join(worker.lines)


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_what_the_core_of_temporal_says_is_in_the_log(
    lone_tool: Tool, tmp_path: Path, log_format: str
) -> None:
    """Left to itself it writes coloured lines between ours."""
    metrics = f"127.0.0.1:{free_port()}"
    with (
        Cluster(tmp_path / "cluster") as cluster,
        running_worker(
            lone_tool,
            LOG_FORMAT=log_format,
            METRICS_ADDRESS=metrics,
            TEMPORAL_ADDRESS=cluster.address,
        ) as worker,
    ):
        # The SDK gives a worker up whose server dies before its first poll.
        wait_until(lambda: "temporal_num_pollers{" in fetch(f"http://{metrics}/metrics"))
        cluster.kill_server()
        worker.wait_for("poll_workflow_task_queue")
    assert not any("\x1b" in line for line in worker.lines)
    if log_format == "json":
        lines = [json.loads(line) for line in worker.lines]
        of_core = [line for line in lines if line["logger"] == "temporalio.core"]
        assert {line["level"] for line in of_core} <= {"warning", "error"}
        assert any("Connection refused" in line.get("error", "") for line in of_core)


def test_document_cancelled_while_it_is_fetched_is_no_error(
    lone_tool: Tool, tmp_path: Path
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        running_worker(lone_tool, LOG_FORMAT="json", ALLOW_PRIVATE_URLS="true") as worker,
    ):
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/never.pdf"
        client = worker.client(tmp_path / "client")
        assert client.run("process", url, "--detach", "--job-id", "off").code == 0
        worker.wait_for("ingest_began")
        client.run("cancel", "off")
        worker.wait_for("document_failed")
    lines = [json.loads(line) for line in worker.lines]
    assert [line for line in lines if line["level"] == "error"] == []
    (failed,) = [line for line in lines if line["event"] == "document_failed"]
    assert (failed["job_id"], failed["reason"]) == ("off", "CANCELLED")
