"""What operators are shown of a batch: log lines, metrics, search attributes, live details.

A replay repeats none of it but the search attributes, which are commands.
"""

from collections import Counter

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.batch import BatchResult
    from quire.contracts.batch_steps import DocumentEnd
    from quire.contracts.codes import ErrorInfo
    from quire.domain.batch.letters import WORDS
    from quire.telemetry import metrics
    from quire.telemetry.recorder import MetricRecorder
    from quire.temporal import search_attributes as key
    from workflows.batch.details import render_details
    from workflows.batch.state import BatchState

# Details are written whole each time.
RENDER_EVERY_S = 1.0


class BatchReporter:
    """Reports what has happened; the state is only read."""

    def __init__(self) -> None:
        self._rendered_at = 0.0

    def began(self, state: BatchState) -> None:
        """The first run begins."""
        facts = {"batch_id": state.request.batch_id, "documents": state.request.documents}
        workflow.logger.info("batch_began", extra=facts)

    def ended(self, ends: tuple[DocumentEnd, ...]) -> None:
        """Documents have ended."""
        recorder = MetricRecorder(workflow.metric_meter())
        for letter, number in sorted(Counter(end.letter for end in ends).items()):
            recorder.count(metrics.BATCH_DOCUMENTS, number, status=WORDS[letter])

    def changed(self, state: BatchState, now: float, *, at_once: bool = False) -> None:
        """After anything may have changed."""
        if at_once or state.paused or now - self._rendered_at >= RENDER_EVERY_S:
            self._rendered_at = now
            workflow.set_current_details(render_details(state, now))

    def completed(self, state: BatchState, result: BatchResult, now: float) -> None:
        """The result is written."""
        state.phase = "done"
        self.changed(state, now, at_once=True)
        MetricRecorder(workflow.metric_meter()).count(metrics.BATCHES, status="completed")
        cost = result.cost_usd
        workflow.upsert_search_attributes(
            [
                key.STATUS.value_set("completed"),
                key.PAGES.value_set(result.pages),
                key.TOKENS.value_set(result.input_tokens + result.output_tokens),
                key.COST_USD.value_unset() if cost is None else key.COST_USD.value_set(cost),
            ]
        )
        facts = {
            "batch_id": result.batch_id,
            "duration_ms": round((now - state.started) * 1000),
            "cost_usd": result.cost_usd,
            **result.counts.model_dump(exclude={"waiting", "running"}),
        }
        workflow.logger.info("batch_completed", extra=facts)

    def failed(self, state: BatchState, error: ErrorInfo, now: float) -> None:
        """There is no batch, or it cannot go on."""
        MetricRecorder(workflow.metric_meter()).count(metrics.BATCHES, status="failed")
        workflow.upsert_search_attributes([key.STATUS.value_set("failed")])
        facts = {
            "batch_id": state.request.batch_id,
            "error_code": error.code.value,
            "reason": error.reason,
        }
        workflow.logger.error("batch_failed", extra=facts)
