"""The schedule of the watch over all documents, which workers make and keep as they are set."""

from dataclasses import replace
from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)

from quire.contracts.names import WATCH_SCHEDULE, WORKFLOW_QUEUE
from quire.contracts.watch import WatchRequest

WATCH_WORKFLOW = "WatchWorkflow"
# A watch that was missed while the server was down is not made up for.
CATCH_UP = timedelta(seconds=10)
# A watch that is stuck itself must not keep the next one from running for long.
WATCH_WITHIN = timedelta(minutes=30)
# What share of the interval lies between the two looks of a watch.
LOOKS_APART = 1 / 3


async def schedule_watch(client: Client, interval_s: float) -> None:
    """Make the schedule, or bring it up to date. One that was paused stays so."""
    wanted = _schedule(interval_s)
    try:
        await client.create_schedule(WATCH_SCHEDULE, wanted)
    except ScheduleAlreadyRunningError:

        def update(found: ScheduleUpdateInput) -> ScheduleUpdate:
            return ScheduleUpdate(replace(wanted, state=found.description.schedule.state))

        await client.get_schedule_handle(WATCH_SCHEDULE).update(update)


def _schedule(interval_s: float) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            WATCH_WORKFLOW,
            WatchRequest(look_again_s=interval_s * LOOKS_APART),
            id=WATCH_SCHEDULE,
            task_queue=WORKFLOW_QUEUE,
            execution_timeout=WATCH_WITHIN,
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=interval_s))]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
    )
