"""Structured logs on standard error."""

import logging
import sys

import structlog
from temporalio import activity, workflow

from quire.contracts.names import WORKFLOW_ID_PREFIX

# Libraries that log every request, or every thread's credentials. A vendor's SDK does so too: its
# provider silences it.
NOISY = ("httpx", "httpx2", "httpcore", "httpcore2", "PIL", "boto3", "botocore")


def configure_logs(level: str, log_format: str) -> None:
    """Everything that logs, ours and the libraries', goes through structlog to standard error."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _unfold_core,
        _name_the_document,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ],
        )
    )
    # The ids are fields of their own; in the message they would be a second, unreadable copy.
    activity.logger.activity_info_on_message = False
    workflow.logger.workflow_info_on_message = False
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def _unfold_core(
    logger: object, method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """What Temporal's core says has its facts, such as the error, in an object of its own."""
    core = event.pop("temporal_log", None)
    if core is not None:
        for name, value in {"target": core.target, **core.fields}.items():
            event.setdefault(name, value)
    return event


def _name_the_document(
    logger: object, method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Whatever is logged inside a workflow or an activity says of which job, run and step.

    `try` counts Temporal's own, of a step that it repeats; `attempt` is a word for pages."""
    facts = event.pop("temporal_activity", None) or event.pop("temporal_workflow", None)
    if facts:
        known = {
            "job_id": str(facts.get("workflow_id", "")).removeprefix(WORKFLOW_ID_PREFIX),
            "workflow_id": facts.get("workflow_id"),
            "run_id": facts.get("workflow_run_id") or facts.get("run_id"),
            "try": facts.get("attempt") if facts.get("attempt", 1) > 1 else None,
            "step": facts.get("activity_type"),
        }
        for name, value in known.items():
            if value is not None:
                event.setdefault(name, value)
    return event
