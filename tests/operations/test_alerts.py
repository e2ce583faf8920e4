"""Every alert fires on its own trouble and on nothing less, by Prometheus's own rule tester."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.operations.stack import DEPLOY, run

ALERTS = DEPLOY / "prometheus/alerts.yml"
ROLES = {f'up{{job="quire", role="{role}"}}': "1x60" for role in ("workflows", "documents", "ai")}
CALLS = 'quire_vendor_calls_total{{route="r", outcome="{0}"}}'.format
OCR_CALLS = 'quire_vendor_calls_total{{route="local:rapidocr", outcome="{0}"}}'.format
CROWDED = 'quire_crowded_out_total{route="r"}'
DONE = 'quire_documents_total{status="completed", code="none", error_type="none"}'
FAILED = 'quire_documents_total{{status="failed", code="{0}", error_type="{1}"}}'.format
PAGES = 'quire_pages_total{{source="{0}", classification="{1}"}}'.format
DELAY = 'quire_queue_delay_seconds_bucket{{route="r", le="{0}"}}'.format
TASKS = 'temporal_workflow_task_schedule_to_start_latency_seconds_bucket{{le="{0}"}}'.format
BROKEN = 'temporal_workflow_task_execution_failed_total{{failure_reason="{0}"}}'.format
OF_WORKER = 'job="quire", role="ai", instance="w:9464"'
POLLS = f"temporal_long_request_total{{{OF_WORKER}}}"
POLLS_FAILED = (
    f'temporal_long_request_failure_total{{{OF_WORKER}, status_code="PERMISSION_DENIED"}}'
)
DOCUMENTS_LATE = 'quire_timeouts_total{scope="document"}'
STUCK = 'quire_stuck_documents_total{workflow_type="WatchWorkflow"}'
HEALED = 'quire_documents_healed_total{workflow_type="WatchWorkflow"}'
DAMAGED = 'quire_damaged_objects_total{kind="answers"}'
COST = 'quire_cost_microdollars_total{route="r"}'


@dataclass(frozen=True)
class Story:
    """What a metric did, minute by minute, and whether the alert is up after `minute` minutes.

    `0+6x60` begins at 0 and grows by 6 a minute; `1x60` stays.
    """

    alert: str
    says: str
    series: dict[str, str]
    minute: int
    labels: dict[str, str] | None = None


STORIES = (
    Story("QuireWorkerGone", "down", {'up{job="quire", role="ai"}': "0x60"}, 3,
          {"severity": "page", "job": "quire", "role": "ai"}),
    Story("QuireWorkerGone", "back in time", {'up{job="quire", role="ai"}': "0 0 1x60"}, 3),
    Story("QuireNoWorkers", "all roles", ROLES, 30),
    Story("QuireNoWorkers", "no ai", dict(list(ROLES.items())[:2]), 3,
          {"severity": "page", "job": "quire", "role": "ai"}),
    Story("QuireCannotPoll", "the key was revoked",
          {POLLS: "0+5x10 50+30x50", POLLS_FAILED: "_x10 5+30x50"}, 25,
          {"severity": "page", "role": "ai", "instance": "w:9464"}),
    Story("QuireCannotPoll", "Temporal was away for a minute",
          {POLLS: "0+5x10 80+5x50", POLLS_FAILED: "0x10 30x50"}, 12),
    Story("QuireCannotPoll", "one poll in ten fails",
          {POLLS: "0+10x60", POLLS_FAILED: "0+1x60"}, 30),
    Story("QuireTemporalGone", "down", {'up{job="temporal"}': "0x60"}, 3,
          {"severity": "page", "job": "temporal"}),
    Story("QuireTemporalGone", "up", {'up{job="temporal"}': "1x60"}, 30),
    Story("QuireDocumentsFail", "once, of many",
          {DONE: "0+6x60", FAILED("IO_ERROR", "retryable"): "0x20 1x40"}, 25,
          {"severity": "warn", "code": "IO_ERROR"}),
    Story("QuireDocumentsFail", "wrong passwords", {FAILED("IO_ERROR", "terminal"): "0+1x60"}, 25),
    Story("QuireDocumentsFail", "long ago", {FAILED("UNKNOWN", "retryable"): "0x5 1x90"}, 50),
    Story("QuireDocumentsFail", "not one yet",
          {DONE: "0+6x60", FAILED("UNKNOWN", "retryable"): "0x60"}, 25),
    Story("QuireMostDocumentsFail", "the store denies access",
          {DONE: "0+1x10 10x50", FAILED("IO_ERROR", "terminal"): "0x10 0+1x50"}, 40,
          {"severity": "page"}),
    Story("QuireMostDocumentsFail", "one wrong password on a quiet day",
          {DONE: "0x60", FAILED("IO_ERROR", "terminal"): "0x20 1x40"}, 40),
    Story("QuireMostDocumentsFail", "a third",
          {DONE: "0+2x60", FAILED("IO_ERROR", "terminal"): "0+1x60"}, 40),
    Story("QuireMostDocumentsFail", "not a PDF",
          {DONE: "0x60", FAILED("NOT_PDF", "terminal"): "0+1x60"}, 40),
    Story("QuireNoAnswers", "only the local engine answers",
          {CALLS("SERVER"): "0+6x60", CALLS("ok"): "0x60", OCR_CALLS("ok"): "0+6x60"}, 45,
          {"severity": "page"}),
    Story("QuireNoAnswers", "only the local engine is asked, and fails",
          {CALLS("SERVER"): "0x60", CALLS("ok"): "0x60", OCR_CALLS("RENDER"): "0+6x60"}, 45),
    Story("QuireNoAnswers", "all fail",
          {CALLS("SERVER"): "0+6x60", CALLS("ok"): "0+6x20 120x40"}, 45, {"severity": "page"}),
    Story("QuireNoAnswers", "never an answer", {CALLS("AUTH"): "0+6x60"}, 20,
          {"severity": "page"}),
    Story("QuireNoAnswers", "one in seven", {CALLS("SERVER"): "0+6x60", CALLS("ok"): "0+1x60"}, 45),
    Story("QuireNoAnswers", "nothing to do", {CALLS("ok"): "120x60"}, 45),
    Story("QuireNoAnswers", "only called off", {CALLS("ABORTED"): "0+6x60"}, 45),
    Story("QuireNoAnswers", "just started",
          {CALLS("SERVER"): "0x60", CALLS("ABORTED"): "0x60", CALLS("ok"): "0x60"}, 45),
    Story("QuireRouteFails", "two thirds", {CALLS("RATE"): "0+8x60", CALLS("ok"): "0+4x60"}, 30,
          {"severity": "warn", "route": "r"}),
    Story("QuireRouteFails", "a third", {CALLS("RATE"): "0+4x60", CALLS("ok"): "0+8x60"}, 30),
    Story("QuireRouteFails", "called off", {CALLS("ABORTED"): "0+8x60", CALLS("ok"): "0+1x60"}, 30),
    Story("QuireRouteFails", "two thirds of those that were not called off",
          {CALLS("RATE"): "0+2x60", CALLS("ok"): "0+1x60", CALLS("ABORTED"): "0+8x60"}, 30,
          {"severity": "warn", "route": "r"}),
    Story("QuireRouteFails", "just started",
          {CALLS("RATE"): "0x60", CALLS("ok"): "0x60", CALLS("ABORTED"): "0x60"}, 30),
    Story("QuireFallbacks", "one in ten",
          {PAGES("ai", "SCANNED"): "0+9x60", PAGES("mupdf_fallback", "SCANNED"): "0+1x60"}, 50,
          {"severity": "warn"}),
    Story("QuireFallbacks", "one in ten, by local OCR in a vendor's place",
          {PAGES("ai", "SCANNED"): "0+9x60", PAGES("ocr_fallback", "SCANNED"): "0+1x60"}, 50,
          {"severity": "warn"}),
    Story("QuireFallbacks", "all by local OCR, by choice",
          {PAGES("ocr", "SCANNED"): "0+9x60"}, 50),
    Story("QuireFallbacks", "out of time, among many that need no model",
          {PAGES("ai", "HAS_GRAPHICS"): "0+9x60", PAGES("mupdf", "BLANK"): "0+90x60",
           PAGES("mupdf", "TEXT_ONLY"): "0+900x60",
           PAGES("mupdf_timeout_fallback", "HAS_GRAPHICS"): "0+1x60"}, 50, {"severity": "warn"}),
    Story("QuireFallbacks", "one in fifty, with models for pages of text too",
          {PAGES("ai", "TEXT_ONLY"): "0+49x60", PAGES("mupdf_fallback", "TEXT_ONLY"): "0+1x60",
           PAGES("ai", "SCANNED"): "0+1x60"}, 50),
    Story("QuireFallbacks", "just started",
          {PAGES("ai", "SCANNED"): "0x60", PAGES("mupdf_fallback", "SCANNED"): "0x60"}, 50),
    Story("QuireFallbacks", "the first document, all at once",
          {PAGES("ai", "SCANNED"): "0x20 90x40", PAGES("mupdf_fallback", "SCANNED"): "0x20 10x40"},
          45, {"severity": "warn"}),
    Story("QuireFallbacks", "one in fifty",
          {PAGES("ai", "SCANNED"): "0+49x60", PAGES("mupdf_fallback", "SCANNED"): "0+1x60"}, 50),
    Story("QuireDeadlines", "one in five minutes",
          {DOCUMENTS_LATE: "0 0 0 0 0 1 1 1 1 1 2 2 2 2 2 3 3 3 3 3 4 4 4 4 4 5x40"}, 28,
          {"severity": "warn"}),
    Story("QuireDeadlines", "two in all", {DOCUMENTS_LATE: "0x10 1x10 2x40"}, 28),
    Story("QuireDeadlines", "attempts", {'quire_timeouts_total{scope="attempt"}': "0+9x60"}, 30),
    Story("QuireCrowdedOut", "one for two calls",
          {CROWDED: "0+4x60", CALLS("ok"): "0+6x60", CALLS("RATE"): "0+2x60"}, 25,
          {"severity": "warn", "route": "r"}),
    Story("QuireCrowdedOut", "one for ten calls",
          {CROWDED: "0+1x60", CALLS("ok"): "0+8x60", CALLS("RATE"): "0+2x60"}, 25),
    Story("QuireCrowdedOut", "no worker serves the route", {CROWDED: "0+4x60"}, 25,
          {"severity": "warn", "route": "r"}),
    Story("QuireCrowdedOut", "just started", {CROWDED: "0x60", CALLS("ok"): "0x60"}, 25),
    Story("QuireQueueDelay", "one in ten waits long",
          {DELAY("5"): "0+90x60", DELAY("15"): "0+100x60", DELAY("+Inf"): "0+100x60"}, 25,
          {"severity": "warn", "route": "r"}),
    Story("QuireQueueDelay", "one in fifty",
          {DELAY("5"): "0+98x60", DELAY("15"): "0+100x60", DELAY("+Inf"): "0+100x60"}, 25),
    Story("QuireDocumentsStuck", "at each watch", {STUCK: "0x10 0+1x50"}, 20, {"severity": "page"}),
    Story("QuireDocumentsStuck", "none", {STUCK: "0x60"}, 20),
    Story("QuireDocumentsStuck", "it has ended", {STUCK: "0+1x10 10x50"}, 40),
    Story("QuireDocumentsHealed", "one", {HEALED: "0x10 1x50"}, 20, {"severity": "warn"}),
    Story("QuireDocumentsHealed", "none", {HEALED: "0x60"}, 20),
    Story(
        "QuireObjectsDamaged",
        "one",
        {DAMAGED: "0x10 1x50"},
        20,
        {"severity": "warn", "kind": "answers"},
    ),
    Story("QuireObjectsDamaged", "none", {DAMAGED: "0x60"}, 20),
    Story("QuireSlowWorkflowTasks", "one in ten",
          {TASKS("1"): "0+90x60", TASKS("5"): "0+100x60", TASKS("+Inf"): "0+100x60"}, 25,
          {"severity": "warn"}),
    Story("QuireSlowWorkflowTasks", "one in fifty",
          {TASKS("1"): "0+98x60", TASKS("5"): "0+100x60", TASKS("+Inf"): "0+100x60"}, 25),
    Story("QuireWorkflowTasksFail", "again and again",
          {BROKEN("NonDeterminismError"): "0 0 1 2 3 4 5 6x40"}, 10,
          {"severity": "page", "failure_reason": "NonDeterminismError"}),
    Story("QuireWorkflowTasksFail", "once", {BROKEN("WorkflowError"): "0 0 1x60"}, 10),
    Story("QuireSpending", "a dollar a minute", {COST: "0+1000000x90"}, 70, {"severity": "warn"}),
    Story("QuireSpending", "half a dollar a minute", {COST: "0+500000x90"}, 70),
)  # fmt: skip


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_alert_has_its_stories_and_says_what_to_do() -> None:
    assert {rule["alert"] for rule in rules()} == {story.alert for story in STORIES if story.labels}
    assert {rule["alert"] for rule in rules()} == {s.alert for s in STORIES if not s.labels}
    assert all(rule["annotations"].keys() == {"summary", "action"} for rule in rules())


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (make tools)")
def test_alerts_fire_when_they_should_and_only_then(tmp_path: Path) -> None:
    run("promtool", "check", "config", DEPLOY / "prometheus/prometheus.yml")
    # The tester would compare the annotations too: here only which alerts fire is of interest.
    plain = [{**rule, "annotations": {}} for rule in rules()]
    (tmp_path / "alerts.yml").write_text(
        yaml.safe_dump({"groups": [{"name": "quire", "rules": plain}]})
    )
    tests = [
        {
            "name": f"{story.alert}: {story.says}",
            "interval": "1m",
            "input_series": [{"series": s, "values": v} for s, v in story.series.items()],
            "alert_rule_test": [
                {
                    "eval_time": f"{story.minute}m",
                    "alertname": story.alert,
                    "exp_alerts": [{"exp_labels": story.labels}] if story.labels else [],
                }
            ],
        }
        for story in STORIES
    ]
    (tmp_path / "stories.yml").write_text(
        yaml.safe_dump({"rule_files": ["alerts.yml"], "tests": tests})
    )
    run("promtool", "test", "rules", tmp_path / "stories.yml")
