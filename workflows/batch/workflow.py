"""BatchWorkflow: thousands of documents, each started in its turn, and each in the result once."""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import TypeVar

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.support.failures import refused
    from quire.contracts.batch import BatchResult
    from quire.contracts.batch_status import BatchDocument, BatchStatus
    from quire.contracts.batch_steps import BatchRun
    from quire.contracts.codes import ErrorInfo
    from quire.domain import errors
    from workflows.batch import queries
    from workflows.batch.people import BatchPeople, wanted_batch, wanted_range
    from workflows.batch.reporter import BatchReporter
    from workflows.batch.state import BatchState
    from workflows.batch.steps import BatchSteps
    from workflows.continued import continues_a_run
    from workflows.document.outcomes import document_error

T = TypeVar("T")
# Half of what the server advises: a next run costs one task.
LONG_HISTORY_EVENTS = 2000


@workflow.defn
class BatchWorkflow:
    """Start what the window has room for, collect what has ended, until nothing is left."""

    @workflow.init
    def __init__(self, request: BatchRun | None = None) -> None:
        request = wanted_batch(request)
        started = workflow.info().start_time.timestamp()
        self._state = BatchState(request.request(), started)
        self._people = BatchPeople(self._state)
        self._reporter = BatchReporter()
        self._steps = BatchSteps(self._state)
        self._stopped = False

    @workflow.run
    async def run(self, request: BatchRun | None = None) -> BatchResult:
        """Read the documents, in one run or in several."""
        request = wanted_batch(request)
        if request.carried is not None and not continues_a_run():
            raise self._fail(errors.not_continued().info)
        work = asyncio.create_task(self._work(request))
        while not work.done():
            try:
                await workflow.wait_condition(work.done)
            except asyncio.CancelledError:
                # Temporal's own cancel, as from its Web UI: stop, and keep what is done.
                self._state.cancelled = self._people.news = True
        try:
            result = work.result()
        except ActivityError as error:
            raise self._fail(document_error(error)) from error
        if result is None:
            workflow.continue_as_new(BatchRun.of(request.request(), self._state.carry()))
        return result

    async def _work(self, request: BatchRun) -> BatchResult | None:
        """The result; None when a next run is to go on."""
        if request.carried is None:
            self._state.plan = await self._steps.plan()
            self._state.load(await self._steps.load())
            if request.retry:
                self._state.retry()
            self._reporter.began(self._state)
        else:
            self._state.take_up(request.carried)
        while True:
            self._state.phase = "reading"
            while not self._is_done():
                await self._step()
                if _is_long():
                    await workflow.wait_condition(workflow.all_handlers_finished)
                    return None
            self._state.phase = "writing"
            self._reporter.changed(self._state, _now(), at_once=True)
            result = await self._steps.write(workflow.now().isoformat())
            await workflow.wait_condition(workflow.all_handlers_finished)
            # Someone may have had it retried meanwhile.
            if self._is_done():
                break
        self._state.completed_at = _now()
        self._reporter.completed(self._state, result, _now())
        return result

    def _is_done(self) -> bool:
        return not self._state.open and not self._state.waiting

    async def _step(self) -> None:
        """One thing: start a group, write off what will not be started, or wait for news."""
        state, self._people.news = self._state, False
        if state.over and state.open and state.cancelled and not self._stopped:
            self._stopped = True
            await self._steps.stop()
        elif wanted := state.to_start():
            receipt = await self._steps.start(wanted)
            state.started_group(receipt)
            self._reporter.ended(receipt.ended)
            state.ended(receipt.ended, _now())
        elif state.open:
            await self._collect()
        elif state.over:
            await self._steps.skip(state.waiting)
        else:
            await workflow.wait_condition(lambda: self._people.news)
        self._stopped = self._stopped and state.cancelled
        self._reporter.changed(state, _now())

    async def _collect(self) -> None:
        """The next ends; or nothing, where people have changed what is to be done."""
        collecting = asyncio.create_task(self._steps.collect())
        await workflow.wait_condition(lambda: collecting.done() or self._people.news)
        if not collecting.done():
            collecting.cancel()
            await _ended(collecting)
            return
        receipt = collecting.result()
        self._reporter.ended(receipt.ended)
        self._state.ended(receipt.ended, _now())

    def _fail(self, info: ErrorInfo) -> Exception:
        self._reporter.failed(self._state, info, _now())
        return refused(info.model_copy(update={"error_type": "terminal"}))

    # --- what people ask ------------------------------------------------------------------------

    @workflow.query(description="Progress in percent and counts, documents as items. No input.")
    def status(self, *given: object) -> BatchStatus:
        """The progress contract."""
        return queries.status(self._state)

    @workflow.query(
        description='Where documents stand. Input {"first": 1, "last": 20}, or none for all.'
    )
    def documents(self, *given: object) -> list[BatchDocument]:
        """Where each document of a range stands."""
        return queries.documents(self._state, wanted_range(given))

    # --- what people change -------------------------------------------------------------------

    @workflow.signal(description='Start nothing more. Input {"user_id": "anna"}, the owner')
    def pause(self, *given: object) -> None:
        """Start nothing more; what is under way goes on."""
        self._people.pause(given)

    @workflow.signal(
        description='Start documents again. Input {"user_id": "anna", "max_cost_usd": 20}'
    )
    def resume(self, *given: object) -> None:
        """Start documents again."""
        self._people.resume(given)

    @workflow.signal(description='Stop; what is done is kept. Input {"user_id": "anna"}')
    def cancel(self, *given: object) -> None:
        """Stop the batch and its documents, and keep what is done."""
        self._people.cancel(given)

    @workflow.signal(description='As the update retry_documents. Input {"user_id": "anna"}')
    def retry(self, *given: object) -> None:
        """Read again what is not good; a refusal is only logged."""
        self._people.retry(given)

    @workflow.update(
        description="Read failed and degraded documents again; answers how many. "
        'Input {"user_id": "anna", "max_cost_usd": 20}'
    )
    def retry_documents(self, *given: object) -> int:
        """Read again what is not good."""
        return self._people.retry(given)

    @retry_documents.validator
    def _may_retry(self, *given: object) -> None:
        """Refuse an order that could do nothing."""
        self._people.check_retry(given)

    @workflow.signal(dynamic=True)
    def other(self, name: str, given: Sequence[RawValue]) -> None:
        """A signal that there is not: the SDK would keep it for a handler that never comes."""
        self._people.refuse_unknown()


def _now() -> float:
    return workflow.now().timestamp()


def _is_long() -> bool:
    info = workflow.info()
    long = info.get_current_history_length() >= LONG_HISTORY_EVENTS
    return long or info.is_continue_as_new_suggested()


async def _ended(task: Awaitable[T]) -> None:
    """Wait for a cancelled step: its result no longer matters, and is found again."""
    with suppress(ActivityError, asyncio.CancelledError):
        await task
