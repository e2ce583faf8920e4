"""One trace a document, from the command over the workflow to each call, over worker restarts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quire.contracts.names import workflow_id
from quire.temporal.embedded import find_binary
from testing.collector import Collector
from testing.embedded import server_of
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_answers_late, vendor_fails, vendor_hangs
from testing.vendor.standin import StandIn
from testing.worker import RunningWorker, running_worker

WAY_UP = [
    "RunActivity:recognize_page",
    "StartActivity:recognize_page",
    "RunWorkflow:DocumentWorkflow",
    "StartWorkflow:DocumentWorkflow",
    "quire process",
]


@pytest.mark.long
def test_spans_of_a_document_that_outlived_its_worker(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_hangs())
    vendor.behave(vendor_answers_late(0), first=3)
    with Collector() as collector:
        # Spans leave at once: the first worker will not be asked before it dies.
        otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        first = RunningWorker(tool, **otel)
        first.wait_for("worker_started")
        client = first.client(tmp_path / "client")
        process = client.start("process", mixed, "--json", "--job-id", "traced", **otel)
        # With every page that needs a model at the vendor (three answered, five hung), nothing
        # more is begun. A replay does not report an attempt's beginning again, so each that
        # history holds must have been reported before the kill, or its call would be an orphan:
        # one a page, and one for each that waited too long for a slot on a busy machine.
        vendor.wait_for_calls(8, timeout=60)
        collector.wait_for("StartActivity:recognize_page", attempts_begun(tool, "traced"))
        collector.wait_for("RunActivity:recognize_page", 3)
        first.kill()
        vendor.reset()
        vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
        with running_worker(tool, **otel):
            _, err = process.communicate(timeout=90)
            assert process.returncode == 0, err
        calls = collector.named("call ")
        assert len({span.trace for span in collector.spans}) == 1
        answered = len([call for call in vendor.calls() if call.ended])
        assert len(calls) >= answered + 3, "those before the restart, and those after it"
        assert all(span.name == f"call {_route(span.attributes)}" for span in calls)
        assert "call openai:gpt-6.1-sol" in {span.name for span in calls}
        for span in calls:
            assert collector.ancestors(span) == WAY_UP
        assert len(collector.named("RunWorkflow")) == 1, "a replay reports nothing twice"
        assert not [span for span in collector.spans if "Query" in span.name]
        assert b"harbour" not in collector.raw
        refused = [span for span in calls if span.failed]
        assert {span.name for span in refused} == {"call openai:gpt-6.1-sol"}
        assert {span.attributes["error.type"] for span in refused} == {"SERVER"}
        assert {type(span.attributes["quire.page"]) for span in calls} == {int}
        roles = {span.resource["quire.role"] for span in collector.spans}
        assert roles == {"tool", "workflows,documents,ai"}
        assert len({span.resource["service.instance.id"] for span in collector.spans}) == 3
        assert {span.resource["service.name"] for span in collector.spans} == {"quire"}


def test_operators_own_words_for_a_process_go_before(lone_tool: Tool, one_page: Path) -> None:
    said = "service.instance.id=mine,service.name=theirs,place=attic"
    with Collector() as collector:
        otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_RESOURCE_ATTRIBUTES": said}
        assert lone_tool.process(one_page, "--text-only", **otel).code == 0
    (resource,) = {
        tuple(
            span.resource[name]
            for name in ("service.instance.id", "service.name", "place", "quire.role")
        )
        for span in collector.spans
    }
    assert resource == ("mine", "theirs", "attic", "tool")


def attempts_begun(tool: Tool, job: str) -> int:
    """How many attempts the document's history holds."""
    shown = subprocess.run(
        [find_binary(), "workflow", "show", "-o", "json", "--address", server_of(tool).address,
         "--workflow-id", workflow_id(job)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )  # fmt: skip
    scheduled = [
        event["activityTaskScheduledEventAttributes"]["activityType"]["name"]
        for event in json.loads(shown.stdout)["events"]
        if "activityTaskScheduledEventAttributes" in event
    ]
    return scheduled.count("recognize_page")


def _route(attributes: dict[str, Any]) -> str:
    return f"{attributes['gen_ai.provider.name']}:{attributes['gen_ai.request.model']}"


def test_without_an_endpoint_nothing_is_imported() -> None:
    modules = "quire.cli.worker, quire.cli.main, quire.cli.process, sys"
    program = f"import {modules}; print('opentelemetry' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"
