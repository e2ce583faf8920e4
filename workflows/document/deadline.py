"""The document's deadline: a timer, and where the plan lets it, one that moves."""

import asyncio
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.names import DEADLINE_AT_MEMO, DEADLINE_TIMER
    from quire.domain.document.deadline import grown_s, moved_on
    from workflows.document.reporter import Reporter
    from workflows.document.state import DocumentState
    from workflows.document.stop import StopState


class DeadlineTimer:
    """Says stop when the deadline has passed. Where only local OCR reads, and nobody asked for a
    deadline, that moves with the pages that are to be read."""

    def __init__(self, state: DocumentState, stop: StopState, reporter: Reporter) -> None:
        self._state = state
        self._stop = stop
        self._reporter = reporter
        self._task: asyncio.Task[None] | None = None
        self._allowed_s: float | None = None

    def start(self, deadline: float) -> None:
        """Keep this deadline from now on."""
        self.cancel()
        self._task = asyncio.create_task(self._keep(deadline))

    def cancel(self) -> None:
        """The document is done."""
        if self._task is not None:
            self._task.cancel()

    def adjust(self) -> None:
        """The survey, or the rest of it, says how many pages there are to read."""
        plan, pages = self._state.plan, self._state.pages.to_read
        if plan is None or not plan.page_s:
            return
        allowed_s = grown_s(plan, pages)
        if allowed_s != (self._allowed_s or plan.deadline_s):
            self._allowed_s = allowed_s
            self.start(self._move(workflow.now().timestamp() + allowed_s))

    async def _keep(self, deadline: float) -> None:
        while True:
            left = max(0.001, deadline - workflow.now().timestamp())
            await workflow.sleep(timedelta(seconds=left), summary=DEADLINE_TIMER)
            moved = self._moved_on(workflow.now().timestamp())
            if moved is None:
                break
            deadline = self._move(moved)
        self._stop.deadline_passed = True

    def _moved_on(self, now: float) -> float | None:
        state = self._state
        if state.plan is None or state.pages.dispatch is None:
            return None
        # What an earlier run of the workflow read, it read shortly before this one began.
        began = workflow.info().start_time.timestamp()
        read_at = max(began, state.pages.dispatch.read_at)
        started = state.started
        return moved_on(state.plan, state.pages.to_read, started=started, read_at=read_at, now=now)

    def _move(self, deadline: float) -> float:
        """The watch over stuck documents asks nobody but the server: so that must know."""
        self._state.set_deadline(deadline)
        workflow.upsert_memo({DEADLINE_AT_MEMO: deadline})
        self._reporter.deadline_moved(self._state, workflow.now().timestamp())
        return deadline
