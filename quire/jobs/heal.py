"""Documents that are stuck: finds them, starts them again, and waits on where one was."""

import asyncio
import secrets
from datetime import timedelta

from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import TerminatedError

from quire.contracts.names import WATCH_SCHEDULE, WORKFLOW_QUEUE
from quire.contracts.results import DocumentResult
from quire.contracts.watch import StuckDocument, WatchRequest, WatchResult
from quire.domain import errors
from quire.domain.document.stuck import HEALED_REASON, may_be_healed
from quire.domain.errors import QuireError
from quire.jobs.finding import Finding
from quire.jobs.handles import Handle
from quire.jobs.session import Jobs, open_jobs
from quire.settings import Settings
from quire.temporal.embedded import has_database
from quire.temporal.open_runs import OpenRuns
from workflows.watch.workflow import WatchWorkflow

# A person waits: the two looks of a watch are close together.
LOOK_AGAIN_S = 2.0
WATCH_WITHIN = timedelta(seconds=60)
# Between the end of a stuck run and the start of the next one.
START_WITHIN_S = 60.0
WORDS = {
    "tasks_fail": "its workflow tasks fail",
    "past_deadline": "it is past its deadline",
}


async def find_stuck(jobs: Jobs) -> list[StuckDocument]:
    """The documents that do not come to their end by themselves."""
    runs = OpenRuns(jobs.client, jobs.settings.document_processing_timeout)
    return await runs.find_stuck()


async def heal_documents(jobs: Jobs) -> WatchResult:
    """Have a worker watch over all documents now, as the schedule does."""
    try:
        return await jobs.client.execute_workflow(
            WatchWorkflow.run,
            WatchRequest(look_again_s=LOOK_AGAIN_S),
            id=f"{WATCH_SCHEDULE}-{secrets.token_hex(4)}",
            task_queue=WORKFLOW_QUEUE,
            execution_timeout=WATCH_WITHIN,
        )
    except WorkflowFailureError:
        raise errors.no_worker_with_role("workflows") from None


async def check_documents(settings: Settings, *, heal: bool) -> list[Finding]:
    """Which documents are stuck; with `heal` they are started again first."""
    if not settings.cluster and not has_database(settings.state_dir):
        return []
    findings: list[Finding] = []
    try:
        async with open_jobs(settings, ("workflows",) if heal else ()) as jobs:
            stuck = await find_stuck(jobs)
            if heal and stuck:
                healed = (await heal_documents(jobs)).healed
                findings = [
                    Finding("documents", True, f"{job_id} was stuck and is started again")
                    for job_id in healed
                ]
                stuck = [one for one in stuck if one.job_id not in healed]
            findings += [_finding(one) for one in stuck]
            if not findings:
                findings.append(Finding("documents", True, "none is stuck"))
    except QuireError as error:
        # That Temporal cannot be reached is a finding of its own; that nothing was healed is not.
        if heal:
            return [Finding("documents", False, error.info.message, error.info.remedy)]
    return findings


def _finding(stuck: StuckDocument) -> Finding:
    detail = f"{stuck.job_id} is stuck: {WORDS[stuck.why]}"
    if may_be_healed(stuck):
        return Finding("documents", False, detail, "`quire doctor --heal` starts it again.")
    remedy = (
        "The worker's log says why; mend that, then `quire process --force --replace` with its "
        "--job-id."
    )
    return Finding("documents", False, f"{detail}, also after it was started again", remedy)


async def result_of_last_run(handle: Handle) -> DocumentResult:
    """The result of this run, or of the one that was started in its place when it was stuck."""
    give_up_at = None
    while True:
        try:
            return await handle.result()
        except WorkflowFailureError as error:
            cause = error.cause
            if not isinstance(cause, TerminatedError) or cause.message != HEALED_REASON:
                raise
            now = asyncio.get_running_loop().time()
            give_up_at = give_up_at or now + START_WITHIN_S
            if now > give_up_at:
                raise
        await asyncio.sleep(0.2)
        # The handle of a start is bound to the run that it began.
        handle = WorkflowHandle(handle._client, handle.id, result_type=DocumentResult)
