"""Names by which servers, histories, other workers and dashboards know us."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from unittest.mock import patch

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.support.failures import (
    attempt_failed,
    crowded_out,
    handed_back,
    refused,
    resting,
    stood_down,
)
from quire.app.parts import build_parts
from quire.app.workers import build_workers
from quire.contracts.codes import Code, ErrorInfo, FailureKind
from quire.contracts.names import (
    DEADLINE_AT_MEMO,
    DEADLINE_MEMO,
    DOCUMENTS_QUEUE,
    HEALED_MEMO,
    JOB_ID,
    LOCAL_MODEL,
    LOCAL_PROVIDER,
    LONGEST_DEADLINE_S,
    NAME_MEMO,
    ROLES,
    STARTED_MEMO,
    WATCH_SCHEDULE,
    WORKFLOW_ID_PREFIX,
    WORKFLOW_QUEUE,
    route_queue,
    workflow_id,
)
from quire.contracts.page import Classification, TextSource
from quire.contracts.steps import AttemptRest
from quire.domain.errors import AttemptFailed
from quire.settings import load_settings
from quire.telemetry import metrics
from quire.temporal.deployment import DEPLOYMENT
from quire.temporal.search_attributes import SEARCH_ATTRIBUTES
from tests.snapshots.types import label
from workflows.document.workflow import DocumentWorkflow
from workflows.watch.workflow import WatchWorkflow

ROOT = Path(__file__).parents[2]
_NOT_OURS = {"docs", "tests", "bench", "build", ".venv"}


def record() -> dict[str, Any]:
    return {
        "workflow": _workflow(DocumentWorkflow),
        "watch": {**_workflow(WatchWorkflow), "schedule": WATCH_SCHEDULE},
        "workers": _workers(),
        "deployment": DEPLOYMENT,
        "roles": ROLES,
        "patches": sorted(_patches()),
        "queues": {
            "workflows": WORKFLOW_QUEUE,
            "documents": DOCUMENTS_QUEUE,
            "route": route_queue("openai", "gpt-6.1-sol"),
            "local": route_queue(LOCAL_PROVIDER, LOCAL_MODEL),
        },
        "workflow_id": {"prefix": WORKFLOW_ID_PREFIX, "of job-7": workflow_id("job-7")},
        "job_id": JOB_ID,
        "longest_deadline_s": LONGEST_DEADLINE_S,
        "search_attributes": SEARCH_ATTRIBUTES,
        "memo": STARTED_MEMO,
        "name_memo": NAME_MEMO,
        "deadline_memo": DEADLINE_MEMO,
        "deadline_at_memo": DEADLINE_AT_MEMO,
        "healed_memo": HEALED_MEMO,
        "classes": {one.value: one.letter for one in Classification},
        "sources": {one.value: one.degraded for one in TextSource},
        "failures": _failures(),
        "metrics": _metrics(),
    }


def _workflow(kind: type) -> dict[str, Any]:
    definition = workflow._Definition.must_from_class(kind)
    return {
        "name": definition.name,
        "run": _signature(definition),
        "signals": {str(name): _signature(one) for name, one in definition.signals.items()},
        "queries": {str(name): _signature(one) for name, one in definition.queries.items()},
        "updates": {
            str(name): {**_signature(one), "validated": one.validator is not None}
            for name, one in definition.updates.items()
        },
    }


def _signature(definition: Any) -> dict[str, Any]:
    takes = [label(kind) for kind in definition.arg_types or ()]
    if definition.arg_types is None:
        takes = ["anything"]
    return {"takes": takes, "gives": label(getattr(definition, "ret_type", None))}


def _workers() -> dict[str, Any]:
    """What every queue serves, as the workers would register it; none is started."""
    seen: dict[str, Any] = {}

    def note(self: Worker, client: Client, **options: Any) -> None:
        seen[options["task_queue"]] = _worker(options)

    with TemporaryDirectory() as folder:
        environment = {
            "HOME": folder,
            "LOCAL_OCR": "never",
            "OPENAI_API_KEY": "key",
            "WORKER_BUILD_ID": "build-7",
            "QUIRE_CONFIG": "none",
        }
        with (
            patch.dict(os.environ, environment, clear=True),
            patch.object(Worker, "__init__", note),
        ):
            build_workers(cast(Client, None), build_parts(load_settings()))
    return seen


def _worker(options: dict[str, Any]) -> dict[str, Any]:
    activities = map(activity._Definition.must_from_callable, options.get("activities", ()))
    workflows = map(workflow._Definition.must_from_class, options.get("workflows", ()))
    deployment = options["deployment_config"]
    return {
        "activities": {str(one.name): _signature(one) for one in activities},
        "workflows": [one.name for one in workflows],
        "deployment": [deployment.version.deployment_name, deployment.version.build_id],
        "versioning": deployment.default_versioning_behavior.name,
    }


def _patches() -> Iterator[str]:
    """Wherever workflow code is: a patch's id is the first argument of these calls."""
    for path in ROOT.rglob("*.py"):
        if _NOT_OURS & set(path.relative_to(ROOT).parts):
            continue
        text = path.read_text(encoding="utf-8")
        if "patch" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and _called(node) in ("patched", "deprecate_patch"):
                yield f"{_called(node)} {ast.literal_eval(node.args[0])}"


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _failures() -> dict[str, Any]:
    failed = AttemptFailed(FailureKind.RATE, "Slow down.", retry_after_s=2.5)
    info = ErrorInfo(
        code=Code.NOT_PDF, reason="EMPTY", error_type="terminal", message="m", remedy="r"
    )
    again = info.model_copy(update={"code": Code.IO_ERROR, "error_type": "retryable"})
    return {
        "attempt failed": _failure(attempt_failed(failed, 12)),
        "stood down": _failure(stood_down("route")),
        "crowded out": _failure(crowded_out("route")),
        "resting": _failure(resting("route", AttemptRest(reason="SERVER", rest_s=2.5))),
        "handed back": _failure(handed_back()),
        "refused for good": _failure(refused(info)),
        "refused for now": _failure(refused(again)),
    }


def _failure(error: ApplicationError) -> dict[str, Any]:
    delay = error.next_retry_delay
    return {
        "type": error.type,
        "non_retryable": error.non_retryable,
        "category": error.category.name,
        "next_retry_delay_s": None if delay is None else delay.total_seconds(),
        "details": [label(type(detail)) for detail in error.details],
    }


def _metrics() -> dict[str, Any]:
    return {
        "all": {
            one.name: {
                "exposed": one.exposed,
                "kind": one.kind,
                "labels": one.labels,
                "buckets": one.buckets,
            }
            for one in metrics.ALL
        },
        "breaker_levels": metrics.BREAKER_LEVELS,
        "words": [metrics.NO_ERROR, metrics.UNSURVEYED, metrics.ABORTED],
    }
